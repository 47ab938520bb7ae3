/** The statement that makes a table of Amazon Athena over files that were fetched. */
import type { Column } from './table.ts';

const TYPES = { STRING: 'string', DOUBLE: 'double', BOOLEAN: 'boolean' } as const;

/** Where the files are to be put: whoever runs the statement knows. */
const LOCATION = "LOCATION 's3://BUCKET/PREFIX/';";

/**
 * Over Parquet. Columns are read by their place, so that they may have names that Athena takes.
 * @see https://docs.aws.amazon.com/athena/latest/ug/handling-schema-updates-chapter.html
 */
export function parquetTable(columns: readonly Column[]): string {
  const names = namesOf(columns.map(({ name }) => name));
  const lines = columns.map(({ type }, at) => `  \`${names[at]}\` ${TYPES[type]}`);
  return [
    'CREATE EXTERNAL TABLE answers (',
    lines.join(',\n'),
    ')',
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

/** Lower case letters, digits and `_`; none twice. */
function namesOf(columns: readonly string[]): string[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    const plain = column.toLowerCase().replace(/[^a-z0-9_]+/g, '_') || 'column';
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
    taken.add(name);
    return name;
  });
}
