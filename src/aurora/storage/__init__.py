"""Storage: folders of files that appear whole or not at all, and the state of boxes kept in them."""

from aurora.storage.folder import Folder, open_folder
from aurora.storage.states import StateStore, state_name

__all__ = ["Folder", "StateStore", "open_folder", "state_name"]
