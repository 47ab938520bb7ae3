import {
  releasedChangelog,
  repositoryOf,
  requireLater,
  versioned,
  versionedLock,
  versionedPyproject,
} from './version.ts';

test.each([
  ['0.2.0', '0.1.9'],
  ['0.10.0', '0.9.0'],
  ['1.0.0', '0.99.99'],
])('%s is after %s', (next, current) => {
  expect(() => requireLater(next, current)).not.toThrow();
  expect(() => requireLater(current, next)).toThrow('is not after');
  expect(() => requireLater(next, next)).toThrow('is not after');
});

test('what is no version is refused', () => {
  for (const text of ['v1.0.0', '1.0', '1.0.0-beta', '']) {
    expect(() => requireLater(text, '0.1.0')).toThrow('is no version');
  }
});

describe('the changelog', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n';

  test('keeps every change, under the version', () => {
    expect(releasedChangelog(text, '0.2.0', '2026-02-03')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n',
    );
  });

  test('without changes is refused', () => {
    const empty = text.replace('- new\n\n', '');
    expect(() => releasedChangelog(empty, '0.2.0', '2026-02-03')).toThrow('no unreleased changes');
    expect(() => releasedChangelog('# Changelog\n', '0.2.0', '2026-02-03')).toThrow('needs one');
  });
});

test('the packages of this repository change together, others stay', () => {
  const manifest = {
    name: '@sagemaker-tfs/client',
    version: '0.1.0',
    dependencies: { '@sagemaker-tfs/tensors': '0.1.0', zod: '4.0.0' },
  };
  const changed = {
    ...manifest,
    version: '0.2.0',
    dependencies: { '@sagemaker-tfs/tensors': '0.2.0', zod: '4.0.0' },
  };
  expect(versioned(manifest, '0.2.0')).toEqual(changed);
  const other = { version: '4.0.0' };
  const lock = { version: '0.1.0', packages: { client: manifest, 'node_modules/zod': other } };
  expect(versionedLock(lock, ['client'], '0.2.0')).toEqual({
    version: '0.2.0',
    packages: { client: changed, 'node_modules/zod': other },
  });
});

test('the repository is given once, and never made up', () => {
  const url = 'git+https://github.com/owner/name.git';
  expect(repositoryOf(undefined, url)).toEqual({ type: 'git', url });
  expect(repositoryOf({ type: 'git', url }, undefined)).toEqual({ type: 'git', url });
  expect(() => repositoryOf(undefined, undefined)).toThrow('Give it once: --repository');
  expect(() => repositoryOf({ type: 'git', url }, 'github.com/owner')).toThrow('is no address');
});

test('the Python client has the version too, and its dependencies keep theirs', () => {
  const text = '[project]\nname = "x"\nversion = "0.1.0"\ndependencies = ["numpy>=1.26"]\n';
  expect(versionedPyproject(text, '0.2.0')).toBe(text.replace('0.1.0', '0.2.0'));
  expect(() => versionedPyproject('[project]\n', '0.2.0')).toThrow('names no version');
});
