export { createDurably } from "./create-durably.ts";
export { currentText, problemOf } from "./current-text.ts";
export { makeDirectory, openDirectory, viewDirectory } from "./directory-disk.ts";
export type { Disk, DiskFile, DiskView, OpenMode } from "./disk.ts";
export { DiskError, type DiskErrorCode } from "./disk-error.ts";
export { lockIfThere } from "./lock-if-there.ts";
export { openLocked } from "./open-locked.ts";
export { assertOwned, openOwnDirectory } from "./own-directory.ts";
export { writeDurably } from "./write-durably.ts";
