import type { MutantGroup } from "./mutant.ts";

const embedded = "test/server/store/embedded.test.ts";
const disk = "test/server/store/directory/failing-disk.test.ts";
const journaled = "test/server/store/journaled/chain-records.test.ts";
const postgres = "test/server/store/postgres/postgres.test.ts";
const position = "test/sandbox/service/cluster/database-position.test.ts";

export const store: readonly MutantGroup[] = [
  {
    file: "server/store/store.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A change of a revision that is no longer there is refused.",
        find: "return revision === change.revision;",
        replace: "return revision !== undefined;",
      },
      {
        rule: "A record is inserted once.",
        find: "return revision === undefined;",
        replace: "return true;",
      },
      {
        rule: "A record is deleted at the revision that was read.",
        find: "change.revision === undefined || revision === change.revision",
        replace: "change.revision === undefined || revision !== undefined",
      },
    ],
  },
  {
    file: "server/store/journaled/journaled-store.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A counter gives no number twice.",
        find: "Math.max(this.#pending.peek(counter), (this.#taken.get(counter) ?? 0) + 1)",
        replace: "this.#pending.peek(counter)",
      },
      {
        rule: "Numbers that were taken are kept with the next commit.",
        find: "const moved = this.#moved();",
        replace: 'const moved: JournalEntry["counters"] = {};',
      },
      {
        rule: "Numbers that were taken before an import count no longer.",
        find: "this.#pending.clear();\n      this.#taken.clear();",
        replace: "this.#pending.clear();",
      },
      {
        rule: "Numbers that were taken and lost are in an image.",
        find: "counters: { ...image.counters, ...this.#moved() }",
        replace: "counters: image.counters",
      },
      {
        rule: "A group that the disk refuses is refused with all that came after it.",
        find: "this.#refuse([...group, ...this.#queue], cause);",
        replace: "this.#refuse(group, cause);",
        tests: [disk],
      },
      {
        rule: "Later writes are not compared with a write that the disk refused.",
        find: "    this.#refusals += 1;\n    this.#pending.clear();",
        replace: "    this.#refusals += 1;",
        tests: [disk],
      },
      {
        rule: "A refused group leaves no gap in the numbers of entries.",
        find: "    this.#number = this.#upTo;\n    this.#refusals",
        replace: "    this.#refusals",
        tests: [disk],
      },
      {
        rule: "A write that builds on a refused one is refused.",
        find: "    this.#refusals += 1;\n",
        replace: "",
        tests: [disk],
      },
      {
        rule: "After a failed sync everything durable is written again before anything else.",
        find: "await this.#durability.replace(this.#durable());",
        replace: "",
        tests: [disk],
      },
      {
        rule: "A repair writes nothing that is not durable yet.",
        find: "      await this.#repair();\n",
        replace:
          "      for (const entry of entries) this.#tables.apply(entry.changes);\n      await this.#repair();\n",
        tests: [disk],
      },
      {
        rule: "An import is on disk before it counts.",
        find: "await this.#durability.replace({ ...this.#position(chain), ...records });",
        replace: "",
      },
      {
        rule: "A commit resolves when it is on disk.",
        find: "await this.#durability.append([...chain, ...entries]);",
        replace: "void this.#durability.append([...chain, ...entries]);",
        tests: [disk],
      },
      {
        rule: "The blocks that a commit relies on are before it in the journal.",
        find: "[...chain, ...entries]",
        replace: "[...entries, ...chain]",
        tests: [journaled],
      },
      {
        rule: "The changes of the chain are written again when the disk has refused them.",
        find: "      this.#source?.giveBack(happened);\n",
        replace: "",
        tests: [journaled],
      },
      {
        rule: "A restore brings the chain's records back with the others.",
        find: "      this.#chain = chain;\n",
        replace: "",
        tests: [journaled],
      },
    ],
  },
  {
    file: "server/store/journaled/pending-entries.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "Of two changes of one revision that are on their way to the disk one wins.",
        find: "if (fits(change, this.get(collection, key)?.revision)) continue;",
        replace: "if (fits(change, this.#durable.get(collection, key)?.revision)) continue;",
      },
      {
        rule: "A number that is on its way to the disk is not given again.",
        find: "Math.max(this.#durable.peek(counter), (this.#counters.get(counter) ?? 0) + 1)",
        replace: "this.#durable.peek(counter)",
      },
      {
        rule: "A record that a later entry changes stays on its way to the disk.",
        find: "if (records.get(key)?.number === number) records.delete(key);",
        replace: "records.delete(key);",
        tests: [disk],
        only: "a record that two commits change",
      },
      {
        rule: "A refused commit takes its counters back.",
        find: "    this.#counters.clear();\n",
        replace: "",
        tests: [disk],
      },
      {
        rule: "A refused commit takes its records back.",
        find: "for (const records of this.#records.values()) records.clear();",
        replace: "",
        tests: [disk],
      },
      {
        rule: "An order has what is on its way to the disk once.",
        find: ".filter(({ key }) => !records.has(key))",
        replace: "",
        tests: [disk],
        only: "an ordered read of writes",
      },
      {
        rule: "A loser of a conflict starts over once the winner is on disk.",
        find: "this.#of(collection).get(key)?.settled ?? Promise.resolve()",
        replace: "Promise.resolve()",
        tests: ["test/server/http/idempotency.test.ts", embedded],
      },
    ],
  },
  {
    file: "server/store/directory/journal-file.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A write that was cut off is taken off the journal.",
        find: "await handle.truncate(end.bytes);",
        replace: "",
      },
      {
        rule: "A journal whose last newline is missing gets it.",
        find: 'if (!end.ended) await handle.appendFile("\\n");',
        replace: "",
      },
      {
        rule: "A new journal's name is on disk.",
        find: "if (isNew) await syncDirectory(dirname(file));",
        replace: "",
        tests: [disk],
        only: "the names of the files",
      },
      {
        rule: "The name of the journal after a compaction is on disk.",
        find: "this.#bytes = 0;\n    await syncDirectory(dirname(this.#file));",
        replace: "this.#bytes = 0;",
        tests: [disk],
        only: "the names of the files",
      },
      {
        rule: "The name of the journal after a repair is on disk.",
        find: "await renameFile(next, this.#file);",
        replace: "await rename(next, this.#file);",
        tests: [disk],
        only: "the names of the files",
      },
      {
        rule: "An entry that is missing is damage.",
        find: "if (number !== last[kind] + 1)",
        replace: "if (entry.number < last + 1)",
      },
      {
        rule: "Entries that the snapshot holds are passed over.",
        find: "if (number <= last[kind]) continue;",
        replace: "if (entry.number < last) continue;",
      },
      {
        rule: "After a sync that failed the journal is given up.",
        find: "} catch (error) {\n      this.#broken = true;\n      // This is not synced",
        replace: "} catch (error) {\n      // This is not synced",
        tests: [disk],
      },
      {
        rule: "The journal that was put aside is deleted once a snapshot holds its records.",
        find: "await rm(this.#aside, { force: true });",
        replace: "",
        tests: ["test/relayer/journal/journal.test.ts", disk],
      },
      {
        rule: "A write that is refused right after a repair is cut off where the repair began the journal.",
        find: "    this.#bytes = 0;\n    this.#broken = false;",
        replace: "    this.#broken = false;",
        tests: ["test/server/store/directory/failing-disk.test.ts"],
        only: "right after a repair",
      },
      {
        rule: "A write that is refused right after the journal was put aside is cut off where the new one began.",
        find: "    this.#bytes = 0;\n    await syncDirectory",
        replace: "    await syncDirectory",
        tests: ["test/server/store/directory/failing-disk.test.ts"],
        only: "renamed",
      },
      {
        rule: "Lines that a killed process had written are synced before the store opens.",
        find: "    await handle.datasync();\n",
        replace: "",
        tests: ["test/server/store/directory/failing-disk.test.ts"],
        only: "killed process",
      },
      {
        rule: "A part of a refused write is off the disk before the write is refused.",
        find: "      await this.#handle.truncate(this.#bytes);\n      await this.#handle.datasync();",
        replace: "      await this.#handle.truncate(this.#bytes);",
        tests: ["test/server/store/directory/failing-disk.test.ts"],
        only: "took a part",
      },
    ],
  },
  {
    file: "server/store/directory/store-snapshot.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A portion of a snapshot is written whole, however little of it the disk takes at once.",
        find: "await handle.writeFile(waiting);",
        replace: "await handle.write(waiting);",
        tests: ["test/end-to-end/full-disk.test.ts"],
      },
      {
        rule: "A snapshot that lacks records is refused.",
        find: "complete = line.records === records",
        replace: "complete = true",
      },
      {
        rule: "A snapshot whose lines were not written together is refused.",
        find: 'if (complete && line.lines !== lines.digest("hex"))',
        replace: "if (complete && line.lines === undefined)",
      },
      {
        rule: "A snapshot of a newer format is refused and left alone.",
        find: "if (format !== currentFormat) throw otherFormat(file, format);",
        replace: "",
      },
      {
        rule: "A snapshot of format 1 is refused as such.",
        find: "if (await isOneDocument(file)) throw otherFormat(file, 1);",
        replace: "",
      },
    ],
  },
  {
    file: "server/lib/replace-file.ts",
    tests: [disk],
    mutants: [
      {
        rule: "The name of a snapshot is on disk before the journal behind it is dropped.",
        find: "throw error;\n  }\n  await syncDirectory(dirname(file));",
        replace: "throw error;\n  }",
        only: "the name of a snapshot",
      },
      {
        rule: "A snapshot that cannot be written leaves nothing in its way.",
        find: "await rm(next, { force: true }).catch(() => undefined);",
        replace: "",
        only: "has no room for",
      },
      {
        rule: "A snapshot file that cannot be written leaves no temporary file.",
        find: "await rm(next, { force: true }).catch(() => undefined);",
        replace: "",
        tests: ["test/sandbox/state/snapshot-file/snapshot-file.test.ts"],
        only: "has no room for",
      },
      {
        rule: "The content of a file is on disk before it takes its name.",
        find: "    await handle.sync();\n    await rename(next, file);",
        replace: "    await rename(next, file);",
        tests: ["test/server/store/directory/failing-disk.test.ts"],
        only: "the content of a snapshot",
      },
    ],
  },
  {
    file: "server/store/directory/checked-lines.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A line that does not match its checksum is damage.",
        find: 'if (text === null) throw damaged(file, { number, start }, "it does not match its checksum");',
        replace: "from = to + 1;\n      if (text === null) continue;",
      },
      {
        rule: "A snapshot that ends too early is refused.",
        find: 'torn === "refuse" || ',
        replace: "",
      },
      {
        rule: "An end that is no beginning of a line is damage.",
        find: "    return false;\n  if (bytes.some((byte) => byte > 0 && byte < 0x20)) return false;",
        replace: "    return true;\n  if (bytes.some((byte) => byte > 0 && byte < 0x20)) return false;",
        only: "an end that no",
      },
      {
        rule: "A whole line with another byte in its newline's place is damage.",
        find: "    if (textOf(bytes.subarray(start, index + 1)) !== null) return false;\n",
        replace: "",
        only: "an end that no",
      },
      {
        rule: "Lines after a damaged one are damage, without newlines too.",
        find: "return start === 0 || textOf(bytes.subarray(start)) === null;",
        replace: "return true;",
        only: "an end that no",
      },
      {
        rule: "The disk may lack any part of a write that was cut off.",
        find: "byte > 0 && byte < 0x20",
        replace: "byte < 0x20",
        only: "lacks any part",
      },
    ],
  },
  {
    file: "server/store/directory/directory-store.ts",
    tests: ["test/sandbox/state/data-directory/data-directory.test.ts"],
    mutants: [
      {
        rule: "A write that was cut off is counted.",
        find: "(await stat(journal)).size - end.bytes",
        replace: "0",
        tests: [embedded],
        only: "lacks any part",
      },
      {
        rule: "A start removes no directory that holds no store.",
        find: "    await requireReplaceable(left);\n",
        replace: "",
        only: "named store",
      },
    ],
  },
  {
    file: "server/store/directory/store-files.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A directory or device is not read as a file of the store.",
        find: '(await fileKind(file)) === "other"',
        replace: "file === directory",
        tests: ["test/sandbox/state/data-directory/data-directory.test.ts"],
        only: "directory in the place of a file",
      },
      {
        rule: "A directory without its snapshot is refused and left alone.",
        find: "if (names.length === 0) return false;",
        replace: "return false;",
      },
      {
        rule: "A directory without its journal is refused and left alone.",
        find: "if (!existsSync(journal) && !isPuttingAside) throw missing(journal, snapshot);",
        replace: "",
      },
      {
        rule: "A journal that is missing next to what was put aside is refused unless the process was killed between two renames.",
        find: "existsSync(asideOf(journal)) && existsSync(nextOf(journal))",
        replace: "existsSync(asideOf(journal))",
      },
      {
        rule: "A directory that is no store is not replaced.",
        find: "if (names.length > 0) requireOwn(directory, names);",
        replace: "",
        tests: ["test/sandbox/chain/journal/journal.test.ts"],
      },
    ],
  },
  {
    file: "server/store/directory/compacted-journal.ts",
    tests: [embedded],
    mutants: [
      {
        rule: "A journal is compacted when it has grown larger than its snapshot.",
        find: "this.#journal.bytes > Math.max(",
        replace: "this.#journal.bytes < -Math.max(",
        tests: ["test/relayer/journal/journal.test.ts"],
      },
      {
        rule: "A compaction that failed is not tried again at once.",
        find: "this.#compactAgainAbove = this.#journal.bytes + this.#compactAbove;",
        replace: "",
        tests: [disk],
        only: "has no room for",
      },
    ],
  },
  {
    file: "server/store/postgres/commit-group.ts",
    tests: [postgres],
    mutants: [
      {
        rule: "A refused commit moves no counter in the database.",
        find: "return names.map((name) => (counters.get(name) ?? 0) + 1);",
        replace:
          "return names.map((name) => counters.set(name, (counters.get(name) ?? 0) + 1).get(name) ?? 0);",
      },
      {
        rule: "Every process is notified of a commit.",
        find: "group.changed.size > 0 ?",
        replace: "group.changed.size > 1_000 ?",
        tests: ["test/sandbox/service/cluster/two-processes.test.ts"],
        only: "the explorer of one",
      },
    ],
  },
  {
    file: "server/store/postgres/position.ts",
    tests: [position],
    mutants: [
      {
        rule: "Each transaction with records is counted.",
        find: "kept.value::bigint + 1",
        replace: "kept.value::bigint",
      },
      {
        rule: "A database knows how many records of the chain it relies on.",
        find: "return String(chainRecords ?? 0);",
        replace: 'return "0";',
      },
    ],
  },
  {
    file: "sandbox/service/cluster/shared-store.ts",
    tests: [position],
    mutants: [
      {
        rule: "A directory that is older than its database is refused.",
        find: "if (chainCount < chainRecords)",
        replace: "if (chainCount < 0)",
      },
      {
        rule: "A database that is older than its directory is refused.",
        find: "if (commits < databaseCommits)",
        replace: "if (commits < 0)",
      },
    ],
  },
  {
    file: "sandbox/service/cluster/kept-chain.ts",
    tests: [position],
    mutants: [
      {
        rule: "A process that joined tells how many commits it knows of.",
        find: "{ commits: known }",
        replace: "{ commits: 0 }",
      },
    ],
  },
  {
    file: "server/store/postgres/reader.ts",
    tests: [postgres],
    mutants: [
      {
        rule: "A list from the database begins after its cursor.",
        find: '`position ${reverse ? "<" : ">"} (SELECT',
        replace: '`position ${reverse ? "<" : ">="} (SELECT',
      },
    ],
  },
];
