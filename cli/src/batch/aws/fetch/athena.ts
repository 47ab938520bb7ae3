/** The statement that makes a table of Amazon Athena over files that were fetched. */
import type { Column } from './table.ts';

const TYPES = { STRING: 'string', DOUBLE: 'double', BOOLEAN: 'boolean' } as const;

/** Where the files are to be put: whoever runs the statement knows. */
const LOCATION = "LOCATION 's3://BUCKET/PREFIX/';";

/** Finds the folders of a table's partitions; it can be run again. */
export const FIND_PARTITIONS = 'MSCK REPAIR TABLE answers;\n';

/**
 * Over Parquet. Columns are read by their place, so that they may have names that Athena takes.
 * @param partition name of the column that the folders tell, which is text there
 * @see https://docs.aws.amazon.com/athena/latest/ug/handling-schema-updates-chapter.html
 * @see https://docs.aws.amazon.com/athena/latest/ug/create-table.html
 */
export function parquetTable(columns: readonly Column[], partition?: string): string {
  const names = columnNames(columns.map(({ name }) => name));
  const lines = columns.map(({ type }, at) => `  \`${names[at]}\` ${TYPES[type]}`);
  return [
    'CREATE EXTERNAL TABLE answers (',
    lines.join(',\n'),
    ')',
    ...(partition === undefined ? [] : [`PARTITIONED BY (\`${partition}\` string)`]),
    "ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe'",
    "WITH SERDEPROPERTIES ('parquet.column.index.access' = 'true')",
    'STORED AS PARQUET',
    `${LOCATION}\n`,
  ].join('\n');
}

/** Over NDJSON, of `fetch` or of a worker: answers and errors as JSON in columns of text. */
export function ndjsonTable(isJoined = false): string {
  return [
    'CREATE EXTERNAL TABLE answers (',
    '  `key` string,\n  `record` bigint,\n  `output` string,\n  `error` string' +
      (isJoined ? ',\n  `input` string' : ''),
    ')',
    "ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'",
    `${LOCATION}\n`,
  ].join('\n');
}

/** Names that Athena takes: lower case letters, digits and `_`; none twice. */
export function columnNames(columns: readonly string[]): string[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    const plain = column.toLowerCase().replace(/[^a-z0-9_]+/g, '_') || 'column';
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
    taken.add(name);
    return name;
  });
}
