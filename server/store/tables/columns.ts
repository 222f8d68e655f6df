/** The location of a record that is kept as an object. */
export const inQueue = 2 ** 32 - 1;
/** The location of a record that was deleted. */
export const nowhere = 2 ** 32 - 2;

/** The smallest number of records that columns have room for. */
const smallestRoom = 16;

const noLocations = new Uint32Array(0);
const noCodes = new Int32Array(0);
const noNumbers = new Float64Array(0);

/**
 * The numbers that a table has of each of its records, so that it need not read them: one of each kind at the record's slot. Slots count insertions.
 *
 * @example const slot = columns.append()
 */
export class Columns {
  /** The number of slots, including those of deleted records. */
  length = 0;
  /** The most slots, while a file is read: one that is damaged must not take all memory. */
  limit = Number.POSITIVE_INFINITY;
  /** Where the record is: {@link inQueue}, {@link nowhere}, or its place in the blocks. */
  locations: Uint32Array<ArrayBufferLike> = noLocations;
  revisions: Uint32Array<ArrayBufferLike> = noLocations;
  /** The codes of the key, of each indexed field, and of the group in each order. */
  readonly codes: Int32Array<ArrayBufferLike>[];
  /** The number in each order; NaN of a record that is not in it. */
  readonly numbers: Float64Array<ArrayBufferLike>[];

  constructor(codes: number, numbers: number) {
    this.codes = Array.from({ length: codes }, () => noCodes);
    this.numbers = Array.from({ length: numbers }, () => noNumbers);
  }

  /** Adds a slot. */
  append(): number {
    this.reserve(this.length + 1);
    return this.length - 1;
  }

  /** Adds slots until there are as many as given; those without a record are of deleted ones. */
  reserve(length: number): void {
    if (length > this.limit)
      throw new RangeError(`There is no place ${length} in a list of at most ${this.limit}.`);
    if (length > this.locations.length) this.#grow(Math.max(smallestRoom, Math.ceil(length * 1.5)));
    this.length = Math.max(this.length, length);
  }

  /** Returns a copy, which later changes do not affect. */
  copy(): Columns {
    const copy = new Columns(0, 0);
    copy.length = this.length;
    copy.locations = this.locations.slice(0, this.length);
    copy.revisions = this.revisions.slice(0, this.length);
    copy.codes.push(...this.codes.map((column) => column.slice(0, this.length)));
    copy.numbers.push(...this.numbers.map((column) => column.slice(0, this.length)));
    return copy;
  }

  #grow(room: number): void {
    const { locations, revisions } = this;
    this.locations = new Uint32Array(room).fill(nowhere, locations.length);
    this.locations.set(locations);
    this.revisions = new Uint32Array(room);
    this.revisions.set(revisions);
    for (const [at, column] of this.codes.entries()) {
      const grown = new Int32Array(room);
      grown.set(column);
      this.codes[at] = grown;
    }
    for (const [at, column] of this.numbers.entries()) {
      const grown = new Float64Array(room);
      grown.set(column);
      this.numbers[at] = grown;
    }
  }
}
