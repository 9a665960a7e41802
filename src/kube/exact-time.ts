/** A header of our own API server: its clock in milliseconds since 1970. Other servers have only `Date`. */
export const exactTimeHeader = "x-interlock-time-ms";
