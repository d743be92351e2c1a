import type { z } from 'zod';

/** One column of a table of fields: the schemas by field, without the fields that have none there. */
export type Column<Table, Name extends string> = {
  -readonly [Key in keyof Table as Table[Key] extends Record<Name, z.ZodType> ? Key : never]: Table[Key] extends Record<
    Name,
    infer Schema
  >
    ? Schema
    : never;
};

export const column = <Table extends object, Name extends string>(table: Table, name: Name): Column<Table, Name> =>
  Object.fromEntries(
    Object.entries(table as Record<string, Record<Name, unknown>>).flatMap(([key, field]) =>
      field[name] === undefined ? [] : [[key, field[name]]],
    ),
  ) as Column<Table, Name>;
