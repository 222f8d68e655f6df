import type { Bug } from "../bug.ts";

export const store: readonly Bug[] = [
  {
    rule: "A commit resolves when it is on disk.",
    of: "JournaledStore.commit",
    bug:
      (original) =>
      async (...given) => {
        original(...given).catch(() => {});
      },
    tests: "/failing-disk.",
    only: /a write that the disk refuses is never read/,
  },
  {
    rule: "Counters are read from the journal.",
    of: "JournaledStore.load",
    bug: (original) => (snapshot, lines, sizes) => {
      async function* withoutCounters() {
        for await (const line of lines) yield "chain" in line ? line : { ...line, counters: {} };
      }
      return original(snapshot, withoutCounters(), sizes);
    },
    tests: "/embedded.",
    only: /committed data is still there/,
  },
  {
    rule: "A write that is based on a write in progress is refused if that one is.",
    of: "JournaledStore.ahead",
    bug: "(original) => () => ({ ...original(), commit: (...given) => this.commit(...given) })",
    tests: "/refused-write.",
    only: /the next one is refused too, and both are assigned later/,
  },
  {
    rule: "Of two changes of one revision that are on their way to the disk one wins.",
    of: "PendingEntries.conflict",
    bug: () => () => null,
    tests: "/embedded.",
    only: /of many commits at once on one revision/,
  },
  {
    rule: "A refused commit takes its records and counters back.",
    of: "PendingEntries.clear",
    bug: () => () => {},
    tests: "/failing-disk.",
    only: /can be repeated|assigned twice/,
  },
  {
    rule: "A line that does not match its checksum is damage.",
    of: "readCheckedLines",
    bug: (original) =>
      async function* (...given) {
        try {
          yield* original(...given);
        } catch {}
      },
    tests: "/embedded.",
    only: /any changed byte is refused with file and line/,
  },
  {
    rule: "A snapshot that ends too early is refused.",
    of: "readCheckedLines",
    bug: (original) => (file) => original(file, "drop"),
    tests: "/embedded.",
    only: /a truncated end is refused/,
  },
  {
    rule: "The end of a write that was cut off is dropped.",
    of: "readCheckedLines",
    bug: (original) => (file) => original(file, "refuse"),
    tests: "/embedded.",
    only: /a write that was cut off is dropped/,
  },
  {
    rule: "Records of the snapshot are not read from the journal again.",
    of: "readJournal",
    bug: (original) => (file, _after, end) => original(file, { batches: 0, chain: 0 }, end),
    tests: "/failing-disk.",
    only: /a journal is compacted while commits continue/,
  },
  {
    rule: "The name of a file is on disk before the write in it is acknowledged.",
    of: "syncDirectory",
    bug: () => async () => {},
    tests: "/failing-disk.",
    only: /the names of the files that a write is in/,
  },
  {
    rule: "A directory without its snapshot is refused.",
    of: "holdsStore",
    bug: (original) => async (directory) => await original(directory).catch(() => false),
    tests: "/embedded.",
    only: /when it has a journal but no snapshot/,
  },
  {
    rule: "After a failed sync nothing is appended to the same file.",
    of: "CompactedJournal.broken",
    bug: () => () => false,
    tests: "/failing-disk.",
    only: /a failed sync refuses its commits/,
  },
  {
    rule: "A reorg removes the records of its blocks.",
    of: "ChainLog.add",
    bug: (original) => (record) => (record.kind === "rewind" ? undefined : original(record)),
    tests: "/interval-order.",
  },
  {
    rule: "A start loads the newest checkpoint.",
    of: "findCheckpoint",
    bug: () => async () => null,
    tests: "/checkpoint.",
    only: /a start after a stop loads the state/,
  },
  {
    rule: "The state that the chain came from is checked before it is loaded.",
    of: "requireState",
    bug: (original) => async (directory, begun) => await original(directory, begun).catch(() => "chain.json"),
    tests: "/journal.",
    only: /started from another state/,
  },
  {
    rule: "Calls between blocks are made again with the blocks.",
    of: "replay",
    bug:
      (original) =>
      (node, changes, ...rest) =>
        original(
          node,
          changes.filter(({ kind }: { kind: string }) => kind !== "call"),
          ...rest,
        ),
    tests: "/journal.",
    only: /holds no copy of the state/,
  },
];
