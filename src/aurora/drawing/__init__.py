"""A network as a picture: what there is to draw, where it goes, and the SVG that shows it."""

from aurora.drawing.svg import draw

__all__ = ["draw"]
