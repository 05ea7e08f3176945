import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { whatsappPlain } from "../../../lib/text/whatsapp-plain.ts";
import { breakLinks } from "../../../lib/webhook/texts/break-links.ts";
import { linksIn, TOP_LEVEL_DOMAINS } from "../../text/support/linkifiers.ts";

/** The text before its links were broken. */
const mended = (text: string) => text.replace(/\[([.\u3002\uFF0E\uFF61\u2024\uFE52]|@|:|:?\/\/)\]/g, "$1");

describe("breakLinks() breaks", () => {
  test.each([
    ["https://evil.example/x?y=http://a.example", "https[://]evil[.]example/x?y=http[://]a[.]example"],
    ["HTTPS://Evil.Example", "HTTPS[://]Evil[.]Example"],
    [
      "http://localhost/x http://2130706433 http://[::1]/",
      "http[://]localhost/x http[://]2130706433 http[://][::1]/",
    ],
    ["www.x.com WWW.x", "www[.]x[.]com WWW[.]x"],
    ["evil.example", "evil[.]example"],
    ["a.b.c.evil.com.br.", "a.b.c[.]evil[.]com[.]br."],
    [
      '(evil.com), "evil.com"; <evil.com> evil.com:80 evil.com-x',
      '(evil[.]com), "evil[.]com"; <evil[.]com> evil[.]com:80 evil[.]com-x',
    ],
    ["*evil*.com _evil_.com `evil`.com ~evil~.com", "*evil*[.]com _evil_[.]com `evil`[.]com ~evil~[.]com"],
    ["wa.me/5511998765432 t.me/x", "wa[.]me/5511998765432 t[.]me/x"],
    [
      "ação.com.br пример.рф 例え.テスト xn--e1afmkfd.xn--p1ai",
      "ação[.]com[.]br пример[.]рф 例え[.]テスト xn--e1afmkfd[.]xn--p1ai",
    ],
    [
      "evil。com evil．com evil｡com evil․com evil﹒com",
      "evil[。]com evil[．]com evil[｡]com evil[․]com evil[﹒]com",
    ],
    ["evil.ｃｏｍ evil.cо evil.c\u200Dom", "evil[.]ｃｏｍ evil[.]cо evil[.]c\u200Dom"],
    ["evil.\u200Dcom evil.\uFE0Fcom evil.例", "evil[.]\u200Dcom evil[.]\uFE0Fcom evil[.]例"],
    ["💩.la ∗x∗.com =.com $.com a@.com", "💩[.]la ∗x∗[.]com =[.]com $[.]com a@[.]com"],
    [
      "a@b.example root@localhost getty@tty1.service",
      "a[@]b[.]example root[@]localhost getty[@]tty1.service",
    ],
    ["mailto:a@b tel:+5511 javascript:alert(1)", "mailto[:]a[@]b tel[:]+5511 javascript[:]alert(1)"],
    ["10.0.0.5:9100 203.0.113.7/login", "10.0.0[.]5:9100 203.0.113[.]7/login"],
    ["https:// evil, ou http://", "https[://] evil, ou http[://]"],
    ["//evil.example/x ftp://x file:///etc", "[//]evil[.]example/x ftp[://]x file[://]/etc"],
    ["3.com x.zip run.sh main.rs", "3[.]com x[.]zip run[.]sh main[.]rs"],
    ["disco.Verifique", "disco[.]Verifique"],
    ["evil[.]com", "evil[[.]]com"],
  ])("%p", (text, broken) => {
    expect(breakLinks(text)).toBe(broken);
    expect(linksIn(broken)).toEqual([]);
  });

  test("every host of every top-level domain there is", () => {
    for (const domain of TOP_LEVEL_DOMAINS)
      expect(linksIn(breakLinks(`a.${domain} a.b.${domain.toUpperCase()}/x`))).toEqual([]);
  });
});

describe("breakLinks() leaves", () => {
  test.each([
    "11.2% de 1.204.333 conexões, R$ 1.5mil, -3.25e10",
    "v1.2.3 v1.2.3-rc1 1.3.6",
    "node_load1 > 8 em /dev/sda1, às 18:10:05.123",
    "Há. Verifique. Fim… e mais: a, b; c/d",
    "/var/log/auth.log nginx.service ssh.socket app.json .env ./x ../y ~/.bashrc",
    "B=12.4, C=1 [ metric='foo' labels={instance=bar} value=10.5 ]",
    "sum(rate(x[5m])) by (job) // comentário",
    "612368384 bytes, +55 11 99876-5432",
    "e.g. a.m. S.A.",
  ])("%p", (text) => {
    expect(breakLinks(text)).toBe(text);
  });

  test("the endings of files only where none is a top-level domain", () => {
    const endings = "conf env gz ini json log service sock socket sql timer toml txt yaml yml".split(" ");
    for (const ending of endings) {
      expect(breakLinks(`a.${ending}`)).toBe(`a.${ending}`);
      expect(breakLinks(`a.${ending}s a.x${ending}`)).toBe(`a[.]${ending}s a[.]x${ending}`);
      expect([ending, TOP_LEVEL_DOMAINS.has(ending)]).toEqual([ending, false]);
    }
  });
});

const domain = fc.constantFrom(
  "com",
  "br",
  "example",
  "me",
  "рф",
  "xn--p1ai",
  "ZIP",
  "log",
  "service",
  "co",
  "x",
);
const word = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."abZ09-_é例∗💩"), minLength: 1, maxLength: 4 }),
  fc.constantFrom("evil", "www", "localhost", "10", "0", "255", "log"),
);
const joint = fc.constantFrom(
  ...[
    ".",
    ".",
    ".",
    "。",
    "．",
    "@",
    "/",
    "//",
    "://",
    ":",
    "?",
    "=",
    " ",
    "*",
    "_",
    "~",
    "`",
    "(",
    ")",
    "[",
    "]",
  ],
  ...[
    '"',
    "'",
    "<",
    ">",
    ",",
    "-",
    "#",
    "%",
    "&",
    "\u200D",
    "\uFE0F",
    "…",
    "mailto:",
    "tel:",
    "https://",
    "http://",
  ],
);
const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: word },
      { weight: 3, arbitrary: joint },
      { weight: 1, arbitrary: domain },
    ),
    {
      maxLength: 14,
    },
  )
  .map((parts) => parts.join(""));

describe("breakLinks() of anything", () => {
  test("leaves no link, neither as it is nor made unable to format before", () => {
    fc.assert(
      fc.property(text, (any) => {
        expect(linksIn(breakLinks(any))).toEqual([]);
        expect(linksIn(breakLinks(whatsappPlain(any)))).toEqual([]);
      }),
      { numRuns: 20_000 },
    );
  });

  test("can be undone, so that different texts stay different", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: fc.constantFrom(..."[].:/@a ") })), (any) => {
        expect(mended(breakLinks(any))).toBe(any);
      }),
      { numRuns: 20_000 },
    );
  });
});
