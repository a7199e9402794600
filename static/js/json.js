// JSON with numbers kept as they were written, as text. A price goes from the server's bytes to the screen without becoming a double on
// the way, so 0.043058 can't turn into 0.0430579999. To compare or count, use Number(text); to show, the text itself.

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const SPACE = /[ \t\r\n]*/y;

export function parseJson(source) {
  let at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (!match) throw new SyntaxError(`not JSON at character ${at}`);
    at = pattern.lastIndex;
    return match[0];
  };
  const expect = (text) => {
    if (!source.startsWith(text, at)) throw new SyntaxError(`${text} expected at character ${at}`);
    at += text.length;
  };
  const items = (close, one) => {
    at++;
    take(SPACE);
    if (source[at] === close) {
      at++;
      return;
    }
    for (;;) {
      one();
      take(SPACE);
      if (source[at] === close) {
        at++;
        return;
      }
      expect(",");
    }
  };
  const value = () => {
    take(SPACE);
    const first = source[at];
    if (first === "{") {
      const object = {};
      items("}", () => {
        take(SPACE);
        const name = JSON.parse(take(STRING));
        take(SPACE);
        expect(":");
        Object.defineProperty(object, name, { value: value(), enumerable: true });
      });
      return object;
    }
    if (first === "[") {
      const list = [];
      items("]", () => list.push(value()));
      return list;
    }
    if (first === '"') return JSON.parse(take(STRING));
    for (const [word, meaning] of [["null", null], ["true", true], ["false", false]]) {
      if (source.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    return take(NUMBER);
  };
  const result = value();
  take(SPACE);
  if (at !== source.length) throw new SyntaxError(`something follows the value at character ${at}`);
  return result;
}
