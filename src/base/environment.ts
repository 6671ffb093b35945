/** Environment variables by name: those of the process, or those that a test or a host program passes. */
export type Environment = Readonly<Record<string, string | undefined>>;
