// Elements by what people remember of them.

export interface Findable {
  network: string;
  section: string;
  name: string;
  kind: string;
  description: string;
  tags: readonly string[];
  columns: readonly string[];
}

/** Those in which every word is found, best first: names before kinds and tags, these before columns and descriptions. */
export function search<T extends Findable>(all: readonly T[], text: string): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .map((one) => ({ one, ranks: words.map((word) => rankOf(one, word)) }))
    .filter(({ ranks }) => ranks.every((rank) => rank > 0))
    .sort((a, b) => sum(b.ranks) - sum(a.ranks))
    .map(({ one }) => one);
}

/** 0 if the word is not in it. */
function rankOf(one: Findable, word: string): number {
  const name = one.name.toLowerCase();
  if (name === word) return 6;
  if (name.startsWith(word)) return 5;
  if (name.includes(word)) return 4;
  const has = (...texts: readonly string[]) => texts.some((text) => text.toLowerCase().includes(word));
  if (has(one.kind, one.section, ...one.tags)) return 3;
  if (has(...one.columns, one.network)) return 2;
  return has(one.description) ? 1 : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
