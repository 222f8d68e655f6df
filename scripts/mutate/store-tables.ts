import type { MutantGroup } from "./mutant.ts";

const embedded = "test/server/store/embedded.test.ts";
const tables = "test/server/store/tables/memory-tables.test.ts";

export const storeTables: readonly MutantGroup[] = [
  {
    file: "server/store/tables/memory-tables.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "An import replaces everything.",
        find: "    this.#tables = emptyTables();\n    this.#storage = new RecordStorage(this.#tables, this.#sizes);\n    this.#counters",
        replace: "    this.#counters",
      },
      {
        rule: "An import brings its counters.",
        find: "    this.#counters = new Map(Object.entries(counters));\n    for",
        replace: "    for",
      },
      {
        rule: "An image is a copy.",
        find: "set(records, owner.number, slot, structuredClone(stored));",
        replace: "set(records, owner.number, slot, stored);",
        only: "an image is a copy",
      },
      {
        rule: "Records that are loaded are found by their fields.",
        find: "    for (const table of this.#tables) table.index();\n",
        replace: "",
      },
    ],
  },
  {
    file: "server/store/tables/table.ts",
    tests: [tables],
    mutants: [
      {
        rule: "Every change counts a revision.",
        find: "(this.columns.revisions[slot] ?? 0) + 1",
        replace: "this.columns.revisions[slot] ?? 1",
      },
      {
        rule: "A list begins after its cursor.",
        find: "placeOfSlot(cursor + 1)",
        replace: "placeOfSlot(cursor)",
      },
      {
        rule: "A list read backwards begins before its cursor.",
        find: "placeOfSlot(cursor) - 1",
        replace: "placeOfSlot(cursor)",
      },
      {
        rule: "A list after a record that is not there is empty.",
        find: "    if (after !== undefined && cursor === undefined) return;\n",
        replace: "",
      },
      {
        rule: "A record that changed leaves the lists that it no longer belongs to.",
        find: "      if (before !== undefined) index.remove(before, slot);\n",
        replace: "",
      },
      {
        rule: "A record that moved in an order is no longer where it was.",
        find: "if (before !== undefined) index.remove(before.code, before.number, slot);",
        replace: "",
      },
      {
        rule: "Keys of one code are distinguished.",
        find: ".find((slot) => storage.read(this, slot)?.key === key)",
        replace: ".at(0)",
      },
      {
        rule: "Fields of one code are distinguished.",
        find: "!wanted.every(([field, value]) => fieldOf(stored.value, field) === value)",
        replace: "wanted.length > 9",
      },
    ],
  },
  {
    file: "server/store/tables/ordered-index.ts",
    tests: [tables],
    mutants: [
      {
        rule: "An order read backwards begins with the number that it is read from.",
        find: "firstFrom(numbers, from + 1) - 1",
        replace: "firstFrom(numbers, from) - 1",
      },
    ],
  },
  {
    file: "server/store/tables/record-storage.ts",
    tests: [tables],
    mutants: [
      {
        rule: "Records are packed in the order of their last change.",
        find: "    this.#dequeue(owner, slot);\n    this.#enqueue(owner, slot, stored);",
        replace: "    this.#enqueue(owner, slot, stored);",
      },
      {
        rule: "The records that are left of a block are kept when it is given up.",
        find: "if (stored !== undefined) this.#enqueue(owner, slot, stored);",
        replace: "if (stored?.revision === 0) this.#enqueue(owner, slot, stored);",
      },
      {
        rule: "A file has every block.",
        find: "        if (block !== undefined) yield",
        replace: "        if (block !== undefined && number > 0) yield",
      },
    ],
  },
  {
    file: "server/store/tables/packed-block.ts",
    tests: [tables],
    mutants: [
      {
        rule: "A record that was changed or deleted since it was packed is not loaded.",
        find: "if (columns.locations[slot] !== first + at) {",
        replace: "if (columns.locations[slot] === -1) {",
      },
      {
        rule: "Deleted records leave no gap in the positions of a file.",
        find: "if (copy.locations[slot] !== nowhere) position += 1;",
        replace: "position += 1;",
      },
      {
        rule: "A file has the newest time of each block.",
        find: "end = head.writeDoubleLE(newest, end);",
        replace: "end = head.writeDoubleLE(newest * 0, end);",
      },
      {
        rule: "The columns of a file stay as they were while commits continue.",
        find: "const copy = columns.copy();",
        replace: "const copy = columns;",
      },
    ],
  },
];
