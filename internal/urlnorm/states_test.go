package urlnorm

import (
	"errors"
	"testing"
)

// TestStandardStateByState has cases for each state of the basic URL parser of the standard, and for its host parsers,
// as a crawler meets them: relative to an http or https URL, and with the fragment and the user gone.
func TestStandardStateByState(t *testing.T) {
	t.Parallel()
	const base = "http://h.test:81/d/e?f#g"
	type answers = map[string]string // by reference; "" is ErrInvalid, and "-" ErrScheme
	for state, cases := range map[string]answers{
		"before the first": {" \x00\x1f/a\x01 ": "http://h.test:81/a", "/a\tb\r\nc": "http://h.test:81/abc", "ht\ntp\t://x": "http://x/", "/a b ": "http://h.test:81/a%20b"},
		"scheme start":     {"A:": "-", "1:b": "http://h.test:81/d/1:b", ":b": "http://h.test:81/d/:b", "+a:b": "http://h.test:81/d/+a:b", "\u00e9:b": "http://h.test:81/d/%C3%A9:b"},
		"scheme": {"HtTpS://x": "https://x/", "a+b-c.1:x": "-", "a_b:x": "http://h.test:81/d/a_b:x", "http": "http://h.test:81/d/http", "httpx://x": "-",
			"https:x": "https://x/", "a%3Ab": "http://h.test:81/d/a%3Ab"},
		"no scheme":                        {"": "http://h.test:81/d/e?f", "#x": "http://h.test:81/d/e?f", "x": "http://h.test:81/d/x"},
		"special relative or authority":    {"http:x": "http://h.test:81/d/x", "http:/x": "http://h.test:81/x", "http:": "http://h.test:81/d/e?f", "http:?x": "http://h.test:81/d/e?x", "http:#x": "http://h.test:81/d/e?f", "http://x": "http://x/"},
		"path or authority":                {"ws:x": "-", "foo:/x": "-", "foo://x": "-"}, // of schemes that are not ours
		"relative":                         {"/x": "http://h.test:81/x", "?": "http://h.test:81/d/e?", "x?y": "http://h.test:81/d/x?y", "\\x": "http://h.test:81/x", "x#": "http://h.test:81/d/x", ".": "http://h.test:81/d/", "..": "http://h.test:81/"},
		"relative slash":                   {"//x": "http://x/", "/\\x": "http://x/", "\\/x": "http://x/", "\\\\x": "http://x/", "/": "http://h.test:81/", "/ /x": "http://h.test:81/%20/x"},
		"special authority slashes":        {"https:/x": "https://x/", "https:\\x/y": "https://x/y", "https:x/y": "https://x/y"},
		"special authority ignore slashes": {"https:////x": "https://x/", "http:\\/\\/x": "http://x/", "///x": "http://x/", "/////x//y": "http://x//y"},
		"authority": {"//u@x": "http://x/", "//u:p@x": "http://x/", "//u:p@q@x": "http://x/", "//:@x": "http://x/", "//u@": "", "//u:p@/x": "", "//@": "", "//@/x": "", "//u@x?@y": "http://x/?@y", "//u%40@x": "http://x/",
			"//a b@x": "http://x/", "http://u@h.test:81": "http://h.test:81/"},
		"host":       {"//": "", "///": "", "http://?x": "", "http://#x": "", "//x:": "http://x/", "//:80": "", "//x\\y": "http://x/y", "//[::1]x": "", "//x]": "", "//a:b@c": "http://c/"},
		"port":       {"//x:80": "http://x/", "https://x:443": "https://x/", "https://x:80": "https://x:80/", "//x:0": "http://x:0/", "//x:00081": "http://x:81/", "//x:65535": "http://x:65535/", "//x:65536": "", "//x:8a": "", "//x:-1": "", "//x: 1": "", "//x:81\\y": "http://x:81/y", "//x:?y": "http://x/?y", "//x:\u0661": ""},
		"file":       {"file:x": "-", "file:": "-"},
		"file slash": {"file:/x": "-", "file:\\x": "-"},
		"file host":  {"file://x/y": "-", "file:///c:/x": "-", "file://[::1]/": "-"},
		"path start": {"https://x\\": "https://x/", "https://x?": "https://x/?", "https://x#": "https://x/", "https://x": "https://x/"},
		"path": {"a/./b": "http://h.test:81/d/a/b", "a/../b": "http://h.test:81/d/b", "../../..": "http://h.test:81/", "a/..": "http://h.test:81/d/", "/a/%2e/b": "http://h.test:81/a/b", "/a/.%2E/b": "http://h.test:81/b", "/a/%2e%2e": "http://h.test:81/",
			"/a/...": "http://h.test:81/a/...", "/a//../b": "http://h.test:81/a/b", "/a\\b": "http://h.test:81/a/b", "/a/b;c=d,e": "http://h.test:81/a/b;c=d,e", "/\"<>`{}^": "http://h.test:81/%22%3C%3E%60%7B%7D%5E", "/[]|'": "http://h.test:81/[]|'",
			"/%": "http://h.test:81/%25", "/%4": "http://h.test:81/%254", "/%4g": "http://h.test:81/%254g", "/%7e%7E~": "http://h.test:81/%7e%7E~", "/\U0001F600": "http://h.test:81/%F0%9F%98%80", "/\x7f": "http://h.test:81/%7F", "/c:/../d": "http://h.test:81/d", "/c|/x": "http://h.test:81/c|/x"},
		"opaque path": {"mailto:a@b": "-", "data:,x y": "-", "javascript:alert(1)": "-", "about:blank": "-"},
		"query":       {"?a?b": "http://h.test:81/d/e?a?b", "?\"<>'": "http://h.test:81/d/e?%22%3C%3E%27", "?`{}|^\\": "http://h.test:81/d/e?`{}|^\\", "?a/../b": "http://h.test:81/d/e?a/../b", "?\u00e9": "http://h.test:81/d/e?%C3%A9", "?a b": "http://h.test:81/d/e?a%20b", "?%": "http://h.test:81/d/e?%25", "?+": "http://h.test:81/d/e?+"},
		"fragment":    {"#a b": "http://h.test:81/d/e?f", "x#?y": "http://h.test:81/d/x", "?x#y#z": "http://h.test:81/d/e?x", "#\u00e9%": "http://h.test:81/d/e?f"},

		"host parser: domains": {"//A.B": "http://a.b/", "//a_b.test": "http://a_b.test/", "//a..b": "http://a..b/", "//a.": "http://a./", "//-a.test": "http://-a.test/", "//a-.test": "http://a-.test/", "//!$&'()*+,;=~": "http://!$&'()*+,;=~/",
			"//%61%2eb": "http://a.b/", "//%41": "http://a/", "//%00": "", "//%20": "", "//%2f": "", "//%25": "", "//a%": "", "//a%zz": "", "//%ff": "", "//a<b": "", "//a^b": "", "//a|b": "", "//a\x7f": "", "//a\"b": "http://a\"b/"},
		"host parser: names beyond ASCII": {"//m\u00fcnchen.test": "http://xn--mnchen-3ya.test/", "//M%C3%9CNCHEN.test": "http://xn--mnchen-3ya.test/", "//XN--MNCHEN-3YA.test": "http://xn--mnchen-3ya.test/", "//fa\u00df.test": "http://xn--fa-hia.test/",
			"//a\u3002b": "http://a.b/", "//\uff41\uff0etest": "http://a.test/", "//a\u00adb": "http://ab/", "//\u00ad": "", "//a_b.\u00fc.test": "http://a_b.xn--tda.test/", "//a_b.xn--tda.test": "http://a_b.xn--tda.test/", "//\u00fc=\u00df": "http://xn--=-qfa9f/",
			"//xn--": "", "//xn--a": "", "//xn--\u00fc": "", "//\u200d": "", "//\u0661": "", "//\uff05\uff14\uff11": "", "//taken-61": "http://taken-61/", "//a\u2260b": "http://xn--ab-miv/"},
		"host parser: IPv4": {"//1.2.3.4": "http://1.2.3.4/", "//1.2.3.4.": "http://1.2.3.4/", "//1": "http://0.0.0.1/", "//1.2": "http://1.0.0.2/", "//1.2.65535": "http://1.2.255.255/", "//0x7f.1": "http://127.0.0.1/", "//0X7F000001": "http://127.0.0.1/",
			"//017700000001": "http://127.0.0.1/", "//4294967295": "http://255.255.255.255/", "//4294967296": "", "//99999999999999999999": "", "//1.2.3.256": "", "//256.2.3.4": "", "//1.2.3.4.5": "", "//1..2": "", "//1.2.3.08": "", "//0x": "http://0.0.0.0/", "//0x.1": "http://0.0.0.1/",
			"//a.1": "", "//a.0x": "", "//a.0xg": "http://a.0xg/", "//1.2.3.4a": "http://1.2.3.4a/", "//1.2.3.4..": "http://1.2.3.4../", "//\uff11.2.3.4": "http://1.2.3.4/", "//%31.2.3.4": "http://1.2.3.4/", "//-1": "http://-1/", "//+1": "http://+1/", "//1.-2.3": "", "//99999999999999999999a": "http://99999999999999999999a/"},
		"host parser: IPv6": {"//[::]": "http://[::]/", "//[::1]": "http://[::1]/", "//[1:2:3:4:5:6:7:8]": "http://[1:2:3:4:5:6:7:8]/", "//[0001:0:0:2::]": "http://[1:0:0:2::]/", "//[0:0:1:0:0:0:1:0]": "http://[0:0:1::1:0]/", "//[ABCD::]": "http://[abcd::]/",
			"//[::1.2.3.4]": "http://[::102:304]/", "//[::ffff:1.2.3.4]": "http://[::ffff:102:304]/", "//[1:2:3:4:5:6:7::]": "http://[1:2:3:4:5:6:7:0]/", "//[": "", "//[]": "", "//[:1]": "", "//[1:]": "", "//[1:2:3:4:5:6:7]": "", "//[1::2::3]": "", "//[12345::]": "", "//[g::]": "",
			"//[::1.2.3]": "", "//[::1.2.3.256]": "", "//[::01.2.3.4]": "", "//[::1.2.3.4.5]": "", "//[::1%25eth0]": "", "//[[::1]]": "", "//[::1]]": "", "//[::1]:82/x": "http://[::1]:82/x", "//[::1]:a": "", "//[v1.a]": "", "//[1:2:3:4:5:6:7:8:9]": ""},
	} {
		b, err := NewBase(base)
		if err != nil {
			t.Fatal(err)
		}
		for ref, want := range cases {
			got, err := b.Resolve([]byte(ref))
			switch {
			case want == "-":
				if !errors.Is(err, ErrScheme) {
					t.Errorf("%s: %q is %q, %v; want another scheme", state, ref, got, err)
				}
			case want == "":
				if !errors.Is(err, ErrInvalid) {
					t.Errorf("%s: %q is %q, %v; want none", state, ref, got, err)
				}
			case err != nil || got != want:
				t.Errorf("%s: %q is %q, %v; want %q", state, ref, got, err, want)
			}
		}
	}
}
