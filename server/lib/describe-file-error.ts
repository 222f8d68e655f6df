import { isError } from "../../protocol/coded-error.ts";

/** The meaning of the operating system's codes for failed file operations; each ends "… cannot be read: ". */
const reasons: { readonly [code: string]: string } = {
  EACCES: "this user has no permission",
  EBUSY: "another process uses it",
  EDQUOT: "the disk quota of this user is used up",
  EEXIST: "a file has this name",
  EFBIG: "the file would be larger than this user may write",
  EIO: "the disk reports an error",
  EISDIR: "a directory has this name",
  ELOOP: "symbolic links lead in a circle",
  EMFILE: "this process has too many open files",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the machine has too many open files",
  ENOENT: "there is no such file",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  ENOTEMPTY: "a directory with files has this name",
  EPERM: "the operating system does not permit it",
  EROFS: "the disk is read-only",
};

/**
 * Says why a file operation failed: in words, with the code of the operating system, and with the file where the error names one.
 *
 * @returns the message of any other error.
 * @example describeFileError(error) // "the disk is full (ENOSPC, store.journal)"
 */
export function describeFileError(error: unknown): string {
  if (!isError(error)) return String(error);
  const { code, path }: NodeJS.ErrnoException = error;
  const reason = reasons[code ?? ""];
  return reason === undefined
    ? error.message
    : `${reason} (${path === undefined ? code : `${code}, ${path}`})`;
}
