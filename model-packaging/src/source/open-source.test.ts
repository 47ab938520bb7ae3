import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { layOut } from '../archive/lay-out.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import { withSource } from './open-source.ts';

const scratch = useScratch();

/** Names and versions of the models in a source, and a file of each. */
const open = (source: string) =>
  withSource(source, {}, async ({ models }) =>
    models.flatMap(({ name, versions }) =>
      versions.map(({ version, directory }) => {
        expect(existsSync(join(directory, 'saved_model.pb'))).toBe(true);
        return `${name}/${version}`;
      }),
    ),
  );

const zip = (folder: string, archive: string, ...flags: string[]) =>
  execFileSync('python3', [
    '-c',
    `import sys,os,zipfile
with zipfile.ZipFile(sys.argv[2],'w') as z:
    for folder,_,names in os.walk(sys.argv[1]):
        for name in names:
            path=os.path.join(folder,name); z.write(path,os.path.relpath(path,sys.argv[1]))
    for extra in sys.argv[3:]: z.writestr(extra,'x')`,
    folder,
    archive,
    ...flags,
  ]);

/** The archive `plain.tar` with megabytes of zeros behind it. */
function withZeros(archive: string, megabytes: number): void {
  const gzip = archive.endsWith('.gz') ? '| gzip -1' : '';
  const bytes = `{ cat ${scratch.path('plain.tar')}; head -c ${megabytes}M /dev/zero; }`;
  execFileSync('bash', ['-c', `${bytes} ${gzip} > ${archive}`]);
}

describe('archives', () => {
  test.each(['tar.gz', 'tgz', 'tar', 'zip'])('.%s', async (ending) => {
    scratch.model('strings', 'in/3');
    const archive = scratch.path(`words.${ending}`);
    const flags = ending === 'tar' ? 'cf' : 'czf';
    if (ending === 'zip') zip(scratch.path('in'), archive);
    else execFileSync('tar', [flags, archive, '-C', scratch.path('in'), '.']);
    expect(await open(archive)).toEqual(['words/3']);
  });

  test('the command to name each of several models reads them once the archive is unpacked', async () => {
    scratch.model('strings', 'in/words/a');
    scratch.model('strings', 'in/words/b');
    const archive = scratch.path('two.tar.gz');
    execFileSync('tar', ['czf', archive, '-C', scratch.path('in'), 'words']);
    const error = await withSource(archive, {}, async () => undefined).catch(String);
    expect(error).toContain(
      'Unpack the archive, then give one of them. To package all in one archive, name',
    );
    const named = [...String(error).matchAll(/--model (\S+)=(\S+)/g)];
    expect(named.map(([, name, path]) => [name, path])).toEqual([
      ['words-a', 'words/a'],
      ['words-b', 'words/b'],
    ]);
    for (const [, , path = ''] of named)
      expect(await open(scratch.path('in', path))).toHaveLength(1);
    const unpacked = await withSource(scratch.path('in'), {}, async () => undefined).catch(String);
    expect(unpacked).toContain(`--model words-a=${scratch.path('in/words/a')} `);
  });

  test('models of one name: which they are, and first what any verb can do', async () => {
    for (const folder of ['a', 'b']) scratch.model('strings', `in/${folder}/words/1`);
    const root = scratch.path('in');
    await expect(open(root)).rejects.toThrow(
      `${root} holds several models named 'words': 'a/words', 'b/words'. Give one of them. To package`,
    );
  });

  test('a version directory at the root of an archive is version 1', async () => {
    scratch.model('strings', 'in');
    execFileSync('tar', ['czf', scratch.path('hub.tar.gz'), '-C', scratch.path('in'), '.']);
    expect(await open(scratch.path('hub.tar.gz'))).toEqual(['hub/1']);
  });

  test('nothing unpacked stays behind', async () => {
    scratch.model('strings', 'in/1');
    zip(scratch.path('in'), scratch.path('m.zip'));
    const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith('sagemaker-tfs-'));
    const unpacked = await withSource(
      scratch.path('m.zip'),
      {},
      async ({ directory }) => directory,
    );
    expect(existsSync(unpacked)).toBe(false);
    expect(ours()).not.toContain(unpacked);
  });
});

describe('archives that are not safe or not whole', () => {
  /** An archive of one entry of any name and type. */
  function tarOf(fields: Partial<ConstructorParameters<typeof Header>[0]> & object): string {
    const block = Buffer.alloc(512);
    const plain = { path: 'a', mode: 0o644, uid: 0, gid: 0, size: 0, type: 'File' as const };
    new Header({ ...plain, mtime: new Date(0), ...fields }).encode(block);
    return scratch.write('odd.tar', Buffer.concat([block, Buffer.alloc(1024)]));
  }

  /** The same archive, compressed: it is read through more steps, and each must pass the refusal on. */
  function compressed(archive: string): string {
    return scratch.write('odd.tar.gz', gzipSync(readFileSync(archive)));
  }

  async function expectRefused(archive: string, code: string, message: RegExp): Promise<void> {
    await expect(open(archive)).rejects.toThrow(withCode(code));
    await expect(open(archive)).rejects.toThrow(message);
  }

  test.each(['../outside', '/etc/outside', 'a/../../outside'])(
    'an entry named %s',
    async (path) => {
      const archive = tarOf({ path });
      await expect(open(archive)).rejects.toThrow(withCode('UNSAFE_PATH'));
      await expect(open(archive)).rejects.toThrow(path);
      await expect(open(compressed(archive))).rejects.toThrow(path);
      await expect(layOut(archive, scratch.path('out'))).rejects.toThrow(withCode('UNSAFE_PATH'));
      expect(existsSync(scratch.path('out'))).toBe(false);
      expect(existsSync(scratch.path('outside'))).toBe(false);
    },
  );

  test.each(['\x1b[2J', '\nFAKE: all is well', '\r', '\u202e', '\u2028'])(
    'a name with %j in it, which the message does not hold',
    async (odd) => {
      mkdirSync(scratch.path('in'));
      for (const [path, code] of [
        [`1/a${odd}b`, 'BAD_FILE_NAME'],
        [`../a${odd}b`, 'UNSAFE_PATH'],
      ] as const) {
        zip(scratch.path('in'), scratch.path('odd.zip'), path);
        const ofTar = await open(tarOf({ path })).catch((thrown: Error) => thrown.message);
        const ofZip = await open(scratch.path('odd.zip')).catch((thrown: Error) => thrown.message);
        expect(`${ofTar}${ofZip}`).not.toContain(odd);
        expect(ofTar).toContain('\\u');
        await expect(open(tarOf({ path }))).rejects.toThrow(withCode(code));
        // A zip's names in ASCII are of code page 437, which shows control characters as pictures.
        if (odd > '~') await expect(open(scratch.path('odd.zip'))).rejects.toThrow(withCode(code));
      }
    },
  );

  test.each([
    ['a name of 300 bytes', `1/${'a'.repeat(300)}`],
    ['a path of 2,000 bytes', `${'d'.repeat(99)}/`.repeat(20)],
    ['70 folders in each other', 'd/'.repeat(70)],
    ['a name of 100,000 bytes', 'a'.repeat(100_000)],
  ])('%s', async (_, folder) => {
    const path = `${folder}/x`.replace('//', '/');
    const script = `
import sys, tarfile
with tarfile.open(sys.argv[1], 'w') as archive: archive.addfile(tarfile.TarInfo(sys.argv[2]))`;
    execFileSync('python3', ['-c', script, scratch.path('odd.tar'), path]);
    mkdirSync(scratch.path('empty'));
    zip(scratch.path('empty'), scratch.path('odd.zip'), path.slice(0, 60_000));
    for (const archive of ['odd.tar', 'odd.zip']) {
      const message = await open(scratch.path(archive)).catch((error: Error) => error.message);
      expect(message).toMatch(/: the name of entry '.{1,210}' (is too long|leads through more)/);
      await expect(open(scratch.path(archive))).rejects.toThrow(withCode('BAD_FILE_NAME'));
    }
  });

  test.each(['SymbolicLink', 'Link', 'CharacterDevice', 'FIFO'] as const)('a %s', async (type) => {
    const isLink = type === 'SymbolicLink' || type === 'Link';
    const archive = tarOf({ path: 'odd', type, ...(isLink && { linkpath: '/etc/passwd' }) });
    await expect(open(archive)).rejects.toThrow(withCode('UNSAFE_PATH'));
    await expect(open(compressed(archive))).rejects.toThrow(withCode('UNSAFE_PATH'));
  });

  test.each(['gnu', 'pax'])('a sparse file, in the %s format', async (format) => {
    scratch.model('strings', 'in/1');
    const holes = scratch.write('in/1/assets.extra/holes.bin', 'x');
    truncateSync(holes, 5_000_000);
    const archive = scratch.path('sparse.tar.gz');
    execFileSync('tar', [
      '-S',
      `--format=${format}`,
      '-czf',
      archive,
      '-C',
      scratch.path('in'),
      '1',
    ]);
    await expectRefused(archive, 'CORRUPT_FILE', /is a sparse file.*without --sparse/);
  });

  test('very many extended headers', async () => {
    const record = '10 path=a\n';
    const header = Buffer.alloc(1024);
    const fields = { path: 'a', mode: 0o644, uid: 0, gid: 0, size: record.length };
    new Header({ ...fields, type: 'ExtendedHeader', mtime: new Date(0) }).encode(header);
    header.write(record, 512);
    const archive = scratch.write('odd.tar', Buffer.alloc(20_001 * 1024, header));
    await expectRefused(archive, 'CORRUPT_FILE', /more than 20000 extended headers/);
  });

  test('a file where another entry needs a folder', async () => {
    const tar = scratch.path('odd.tar');
    const script = `
import io, sys, tarfile
with tarfile.open(sys.argv[1], 'w') as archive:
    for name in ['1', '1/saved_model.pb']:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b'x'))`;
    execFileSync('python3', ['-c', script, tar]);
    mkdirSync(scratch.path('empty'));
    zip(scratch.path('empty'), scratch.path('odd.zip'), '1', '1/saved_model.pb');
    for (const archive of [tar, scratch.path('odd.zip')]) {
      const message = /'1\/saved_model.pb' is a file where another entry/;
      await expectRefused(archive, 'CORRUPT_FILE', message);
    }
  });

  test('an archive that cannot be read', async () => {
    const archive = scratch.path('odd.tar.gz');
    // Root may read everything: a read that fails for root too is one of a process's memory at 0.
    symlinkSync('/proc/self/mem', archive);
    await expectRefused(archive, 'SOURCE_NOT_FOUND', /cannot be read: E/);
  });

  test('an archive that would fill the disk, before a file of it is written', async () => {
    const made = { zip: scratch.path('bomb.zip'), tar: scratch.path('bomb.tar.gz') };
    const make = `import gzip,io,struct,sys,tarfile,zipfile
with zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED) as z: z.writestr('1/saved_model.pb',bytes(1000))
b=bytearray(open(sys.argv[1],'rb').read()); struct.pack_into('<I',b,b.index(b'PK\\x01\\x02')+24,2**30+1); open(sys.argv[1],'wb').write(b)
entry=tarfile.TarInfo('1/saved_model.pb'); entry.size=2**30+1
gzip.open(sys.argv[2],'w').write(entry.tobuf()+bytes(1000))`;
    execFileSync('python3', ['-c', make, made.zip, made.tar]);
    for (const archive of [made.zip, made.tar]) {
      await expectRefused(archive, 'CORRUPT_FILE', /more than a gigabyte and more than 100 times/);
    }
  });

  test('zeros after the end of an archive are read as fast as they inflate', async () => {
    scratch.model('strings', 'in/3');
    execFileSync('tar', ['cf', scratch.path('plain.tar'), '-C', scratch.path('in'), '.']);
    for (const ending of ['tar', 'tar.gz']) {
      const archive = scratch.path(`words.${ending}`);
      withZeros(archive, 50);
      expect(await open(archive)).toEqual(['words/3']);
      withZeros(archive, 100);
      await expectRefused(archive, 'CORRUPT_FILE', /continues for more than 64 MB after the end/);
    }
    const damaged = readFileSync(scratch.path('words.tar.gz'));
    withZeros(scratch.path('words.tar.gz'), 1);
    const checked = readFileSync(scratch.path('words.tar.gz'));
    expect(checked.length).toBeLessThan(damaged.length);
    checked.writeUInt8(checked.readUInt8(checked.length - 5) ^ 1, checked.length - 5);
    await expectRefused(scratch.write('sum.tar.gz', checked), 'CORRUPT_FILE', /incorrect/);
  });

  test('an archive that is compressed twice', async () => {
    scratch.model('strings', 'in/3');
    execFileSync('tar', ['czf', scratch.path('once.tar.gz'), '-C', scratch.path('in'), '.']);
    const twice = gzipSync(readFileSync(scratch.path('once.tar.gz')));
    await expectRefused(scratch.write('m.tar.gz', twice), 'CORRUPT_FILE', /compressed twice/);
    // Empty blocks of deflate before the first byte, which then comes alone.
    const drop = Buffer.concat(Array(20_000).fill(Buffer.from('000000ffff', 'hex')));
    const slow = Buffer.concat([twice.subarray(0, 10), drop, twice.subarray(10)]);
    await expectRefused(scratch.write('m.tar.gz', slow), 'CORRUPT_FILE', /compressed twice/);
  });

  test('a .tar.gz of another kind', async () => {
    const archive = scratch.write('model.tar.gz', Buffer.from('BZh91AY&SY', 'latin1'));
    await expectRefused(archive, 'CORRUPT_FILE', /not a \.tar\.gz: it is compressed with bzip2/);
  });

  test('a truncated archive', async () => {
    scratch.model('digits', 'in/1');
    const archive = scratch.path('cut.tar.gz');
    execFileSync('tar', ['czf', archive, '-C', scratch.path('in'), '1']);
    truncateSync(archive, Math.floor(statSync(archive).size / 2));
    await expect(open(archive)).rejects.toThrow(withCode('CORRUPT_FILE'));
    await expect(open(archive)).rejects.toThrow(archive);
  });

  test('a file that is no archive', async () => {
    for (const name of ['page.tar.gz', 'page.zip']) {
      const archive = scratch.write(name, '<!DOCTYPE html><title>404</title>'.repeat(50));
      await expect(open(archive)).rejects.toThrow(withCode('CORRUPT_FILE'));
    }
  });

  describe('a zip that claims positions beyond its end', () => {
    const ZIP64 = `import struct,sys,zipfile
way,value,path=sys.argv[1],int(sys.argv[2]),sys.argv[3]
with zipfile.ZipFile(path,'w') as z: z.writestr('1/saved_model.pb','x')
d=open(path,'rb').read(); e=d.rfind(b'PK\\5\\6'); c=d.find(b'PK\\1\\2')
end64=lambda at: b'PK\\6\\6'+struct.pack('<QHHIIQQQQ',44,45,45,0,0,1,1,e-c,at)
locator=lambda at: b'PK\\6\\7'+struct.pack('<IQI',0,at,1)
end=b'PK\\5\\6'+struct.pack('<HHHHIIH',0,0,0xffff,0xffff,0xffffffff,0xffffffff,0)
if way=='locator': d=d[:e]+end64(c)+locator(value)+end
if way=='directory': d=d[:e]+end64(value)+locator(e)+end
if way=='entry':
    h=bytearray(d[c:e]); h[20:28]=b'\\xff'*8; h[42:46]=b'\\xff'*4; h[30:32]=struct.pack('<H',28)
    d=d[:c]+bytes(h)+struct.pack('<HHQQQ',1,24,1,1,value)+end64(c)+locator(e+28)+end
open(path,'wb').write(d)`;
    test.each(
      ['locator', 'directory', 'entry'].flatMap((way) =>
        [2n ** 40n, 2n ** 52n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n].map(
          (value) => [way, String(value)] as const,
        ),
      ),
    )('%s at %s', async (way, value) => {
      const archive = scratch.path('lie.zip');
      execFileSync('python3', ['-c', ZIP64, way, value, archive]);
      await expect(open(archive)).rejects.toThrow(withCode('CORRUPT_FILE'));
      await expect(open(archive)).rejects.toThrow(/lie\.zip is truncated or not a zip archive/);
    });
  });

  test('a zip whose entries share their bytes is refused before any is inflated', async () => {
    // Within what an archive may become, so that nothing else refuses it.
    const script = `import io,struct,sys,zipfile
out=io.BytesIO()
with zipfile.ZipFile(out,'w',zipfile.ZIP_DEFLATED) as z: z.writestr('1/saved_model.pb',bytes(1000))
b=bytearray(out.getvalue()); at=b.index(b'PK\\1\\2'); end=b.rindex(b'PK\\5\\6')
again=bytearray(b[at:end]); again[46]=ord('2')
b[end:end]=again; end+=len(again)
b[end+8:end+12]=struct.pack('<HH',2,2); b[end+12:end+16]=struct.pack('<I',2*len(again))
open(sys.argv[1],'wb').write(b)`;
    const archive = scratch.path('overlap.zip');
    execFileSync('python3', ['-c', script, archive]);
    await expectRefused(
      archive,
      'CORRUPT_FILE',
      /overlap\.zip: entry '[12]\/saved_model\.pb' lies/,
    );
  });

  test.each([10, 2_000])('a zip whose small file of 1,000 bytes states %s', async (stated) => {
    const script = `import struct,sys,zipfile
path,size=sys.argv[1],int(sys.argv[2])
with zipfile.ZipFile(path,'w',zipfile.ZIP_DEFLATED) as z: z.writestr('1/saved_model.pb',bytes(1000))
b=bytearray(open(path,'rb').read()); at=b.index(b'PK\\1\\2'); b[at+24:at+28]=struct.pack('<I',size)
open(path,'wb').write(b)`;
    const archive = scratch.path('lie.zip');
    execFileSync('python3', ['-c', script, archive, String(stated)]);
    await expectRefused(archive, 'CORRUPT_FILE', /lie\.zip is truncated or not a zip archive/);
  });

  test('a zip with an entry that leads out', async () => {
    mkdirSync(scratch.path('in'));
    zip(scratch.path('in'), scratch.path('evil.zip'), '../outside');
    await expect(open(scratch.path('evil.zip'))).rejects.toThrow(withCode('UNSAFE_PATH'));
    expect(existsSync(scratch.path('outside'))).toBe(false);
  });

  test('a zip with a symbolic link', async () => {
    const script = `import sys,zipfile
i=zipfile.ZipInfo('link'); i.create_system=3; i.external_attr=0o120777<<16
zipfile.ZipFile(sys.argv[1],'w').writestr(i,'/etc/passwd')`;
    execFileSync('python3', ['-c', script, scratch.path('link.zip')]);
    await expect(open(scratch.path('link.zip'))).rejects.toThrow(withCode('UNSAFE_PATH'));
  });

  test('a file of unknown kind', async () => {
    await expect(open(scratch.write('model.onnx', 'x'))).rejects.toThrow(
      withCode('SOURCE_NOT_FOUND'),
    );
  });
});

test('a link to a model directory is a source like any other', async () => {
  scratch.model('strings', 'real/1');
  symlinkSync(scratch.path('real'), scratch.path('linked'));
  expect(await open(scratch.path('linked'))).toEqual(['linked/1']);
});

describe('s3:// with an S3 over HTTP', () => {
  let server: Server;
  const objects = new Map<string, Buffer>();
  const before = { ...process.env };

  /** HeadObject, GetObject and ListObjectsV2 of one bucket, path style. */
  beforeEach(async () => {
    objects.clear();
    server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://s3');
      const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
      const object = objects.get(rest.join('/'));
      if (bucket !== 'models')
        response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
      else if (url.searchParams.get('list-type') === '2') {
        const prefix = url.searchParams.get('prefix') ?? '';
        const keys = [...objects.keys()].filter((key) => key.startsWith(prefix));
        const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
        response.end(
          `<ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`,
        );
      } else if (!object) response.writeHead(404).end();
      else
        response
          .writeHead(200, { 'content-length': object.length })
          .end(request.method === 'HEAD' ? undefined : object);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
    });
  });
  afterEach(async () => {
    process.env = { ...before };
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('an archive', async () => {
    scratch.model('strings', 'in/5');
    execFileSync('tar', ['czf', scratch.path('m.tar.gz'), '-C', scratch.path('in'), '5']);
    objects.set('team/words.tar.gz', readFileSync(scratch.path('m.tar.gz')));
    expect(await open('s3://models/team/words.tar.gz')).toEqual(['words/5']);
  });

  test.each(['s3://models/team/words', 's3://models/team/words/'])('a prefix: %s', async (uri) => {
    const directory = scratch.model('digits', 'in');
    for (const file of ['saved_model.pb', 'variables/variables.index']) {
      objects.set(`team/words/7/${file}`, readFileSync(join(directory, file)));
    }
    expect(await open(uri)).toEqual(['words/7']);
  });

  test('nothing there, a bucket that is not there, a key that leads out', async () => {
    await expect(open('s3://models/none')).rejects.toThrow(withCode('S3_FAILED'));
    await expect(open('s3://other/none')).rejects.toThrow(/^s3:\/\/other\/none/);
    objects.set('evil/../../x', Buffer.from('x'));
    await expect(open('s3://models/evil/')).rejects.toThrow(withCode('UNSAFE_PATH'));
    await expect(open('s3://')).rejects.toThrow(withCode('S3_URI_INVALID'));
  });
});

test('what an archive of zeros holds at once in memory is bounded', () => {
  const archive = scratch.path('zeros.tar.gz');
  const zeros = 500;
  execFileSync('bash', [
    '-c',
    `mkdir ${scratch.path('zeros')} && head -c ${zeros}M /dev/zero > ${scratch.path('zeros/x')} && tar czf ${archive} -C ${scratch.path('zeros')} .`,
  ]);
  const unpack = `import { extractArchive } from '${join(__dirname, 'extract.ts')}';
    const before = process.resourceUsage().maxRSS;
    await extractArchive(${JSON.stringify(archive)}, ${JSON.stringify(mkdtempSync(scratch.path('out-')))}).catch(() => undefined);
    console.log(process.resourceUsage().maxRSS - before);`;
  const grown = execFileSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', unpack],
    { encoding: 'utf8' },
  );
  expect(Number(grown) / 1024).toBeLessThan(zeros / 2);
});
