import { ndjsonTable, parquetTable } from './athena.ts';

test('columns keep their places, under names that Athena takes', () => {
  const sql = parquetTable([
    { name: 'key', type: 'STRING' },
    { name: 'Class Name', type: 'STRING' },
    { name: 'class-name', type: 'DOUBLE' },
    { name: '`; DROP TABLE x', type: 'BOOLEAN' },
    { name: 'größe', type: 'DOUBLE' },
  ]);
  expect(sql.match(/^ {2}.*$/gm)).toEqual([
    '  `key` string,',
    '  `class_name` string,',
    '  `class_name_2` double,',
    '  `_drop_table_x` boolean,',
    '  `gr_e` double',
  ]);
  expect(sql).toContain("'parquet.column.index.access' = 'true'");
});

test('a column that the folders tell is none of the files', () => {
  const sql = parquetTable([{ name: 'key', type: 'STRING' }], 'site');
  // The order of Athena's synopsis: columns, PARTITIONED BY, ROW FORMAT, STORED AS, LOCATION.
  expect(sql).toMatch(
    /^CREATE EXTERNAL TABLE answers \(\n {2}`key` string\n\)\nPARTITIONED BY \(`site` string\)\nROW FORMAT SERDE '.*'\nWITH SERDEPROPERTIES \(.*\)\nSTORED AS PARQUET\nLOCATION 's3:\/\/BUCKET\/PREFIX\/';\n$/,
  );
});

test('lines of answers have four columns', () => {
  expect(ndjsonTable()).toMatch(
    /`key` string,\n {2}`record` bigint,\n {2}`output` string,\n {2}`error` string\n\)/,
  );
});
