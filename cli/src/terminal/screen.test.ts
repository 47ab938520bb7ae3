import { styleOf } from '../output/style.ts';
import { screenOn } from './screen.ts';

test('lines come above what is being done, which leaves nothing behind', () => {
  let text = '';
  const stream = {
    isTTY: true,
    columns: 20,
    write: (part: string) => {
      text += part;
      return true;
    },
  } as NodeJS.WriteStream;
  const screen = screenOn(stream, styleOf(stream, { NO_COLOR: '1' }));
  screen.write('one');
  screen.doing('Reloading');
  screen.write('two');
  screen.doing('Working on what has a long name');
  screen.done();
  screen.done();
  screen.write('three');
  const clear = '\r\x1b[K';
  expect(text).toBe(
    [
      `one\nReloading ...${clear}two\nReloading ...`,
      `${clear}Working on what ha…${clear}three\n`,
    ].join(''),
  );
});
