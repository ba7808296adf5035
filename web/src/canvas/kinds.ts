// The kinds of boxes, as far as the drawing has to know them: their ports, inputs and families.

import { useEffect, useMemo, useState } from "react";
import type { Kind, Palette } from "../model/forms";
import type { Kinds, KindShape } from "../model/ports";
import { useStore } from "../state/store";

const NONE: Kinds = new Map();

export function useKinds(): Kinds {
  const palette = useStore((state) => state.palette);
  return useMemo(() => kindsOf(palette), [palette]);
}

const PATIENCE_MS = 3_000;

/** Sizes depend on the kinds: laid out without them, all would be laid out twice. It is not waited for long. */
export function useKnowsKinds(): boolean {
  const isKnown = useStore((state) => state.palette !== null);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), PATIENCE_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return isKnown || isLate;
}

export function kindsOf(palette: Palette | null): Kinds {
  if (!palette) return NONE;
  const boxes = palette.kinds.filter((kind) => kind.section === "boxes");
  return new Map(boxes.map((kind) => [kind.kind ?? "", shapeOf(kind)]));
}

function shapeOf(kind: Kind): KindShape {
  const code = kind.parameters.map((parameter) => parameter.form).find((form) => form.form === "code");
  return {
    title: kind.title,
    family: kind.family,
    inputs: kind.inputs ?? { least: 1, most: null, names: [] },
    ports: kind.ports,
    code: code && "ports" in code ? code.ports : {},
  };
}
