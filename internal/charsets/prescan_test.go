package charsets

import (
	"strings"
	"testing"
)

// TestPrescan goes through the steps of the HTML standard's "prescan a byte stream to determine its encoding", and
// what browsers do behind its end.
func TestPrescan(t *testing.T) {
	t.Parallel()
	const meta = `<meta charset=koi8-r>`
	filled := func(n int, s string) string { return s + strings.Repeat(" ", n-len(s)) }
	for _, c := range []struct{ name, page, want string }{
		{"nothing", "", ""},
		{"charset", meta, "koi8-r"},
		{"in upper case", `<META CHARSET="KOI8-R">`, "koi8-r"},
		{"white space and slashes", "<meta\t/ \n charset\r=\f' koi8-r ' />", "koi8-r"},
		{"a slash behind the name", "<meta/charset=koi8-r/>", ""},
		{"a slash behind the name and space before the end", "<meta/charset=koi8-r />", "koi8-r"},
		{"no tag ends", "<meta charset=koi8-r", ""},
		{"no tag ends behind quotes", "<meta charset='koi8-r'", ""},
		{"another element", "<metal charset=koi8-r>", ""},
		{"no attribute", "<meta>" + meta, "koi8-r"},
		{"unknown label", "<meta charset=x>" + meta, "koi8-r"},
		{"empty label", "<meta charset=''>" + meta, "koi8-r"},
		{"label of an encoding that is not to be read", "<meta charset=iso-2022-kr>" + meta, "koi8-r"},
		{"label that is ASCII only in lower case", "<meta charset=\u212aoi8-r>", ""},
		{"UTF-16 cannot be declared in ASCII", "<meta charset=utf-16be>", "utf-8"},
		{"x-user-defined", "<meta charset=x-user-defined>", "windows-1252"},
		{"the first of two attributes", "<meta charset=koi8-r charset=big5>", "koi8-r"},
		{"the first of two attributes, if it means nothing", "<meta charset=x charset=big5>" + meta, "koi8-r"},
		{"the first of two elements", "<meta charset=big5>" + meta, "big5"},
		{"equals sign in a name", "<meta =charset=big5 charset=koi8-r>", "koi8-r"},
		{"value behind space", "<meta charset = koi8-r>", "koi8-r"},
		{"value without an end", "<meta charset='koi8-r>", ""},
		{"value that is a tag's end", "<meta charset=>" + meta, "koi8-r"},

		{"pragma", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">`, "koi8-r"},
		{"pragma behind content", `<meta content="text/html; charset=koi8-r" http-equiv=content-type>`, "koi8-r"},
		{"content without pragma", `<meta content="text/html; charset=koi8-r">`, ""},
		{"another pragma", `<meta http-equiv=refresh content="0; charset=koi8-r">`, ""},
		{"pragma with space", `<meta http-equiv=" content-type" content="charset=koi8-r">`, ""},
		{"pragma without content", `<meta http-equiv=content-type>`, ""},
		{"charset over content", `<meta http-equiv=content-type content="charset=big5" charset=koi8-r>`, "koi8-r"},
		{"charset over content, behind it", `<meta charset=koi8-r http-equiv=content-type content="charset=big5">`, "koi8-r"},
		{"charset that means nothing, before content", `<meta charset=x http-equiv=content-type content="charset=big5">`, ""},
		{"content: only the word", `<meta http-equiv=content-type content="charset">`, ""},
		{"content: the word twice", `<meta http-equiv=content-type content="charset; charset = koi8-r;x">`, "koi8-r"},
		{"content: the word in another", `<meta http-equiv=content-type content="xcharset=koi8-r x">`, "koi8-r"},
		{"content: quoted", `<meta http-equiv=content-type content="charset='koi8-r'x">`, "koi8-r"},
		{"content: quoted without an end", `<meta http-equiv=content-type content="charset='koi8-r">`, ""},
		{"content: a quote behind", `<meta http-equiv=content-type content="charset=koi8-r'">`, ""},
		{"content: no value", `<meta http-equiv=content-type content="charset=">`, ""},

		{"comment", "<!-- " + meta + " -->", ""},
		{"behind a comment", "<!-- > -- -->" + meta, "koi8-r"},
		{"the shortest comments", "<!--><!--->" + meta, "koi8-r"},
		{"comment without an end", "<!--" + meta, ""},
		{"comment that only HTML ends", "<!-- --!>" + meta, ""},
		{"in the attribute of another element", `<a title="` + meta + `">`, ""},
		{"behind an attribute that has a tag's end", `<a title=">">` + meta, "koi8-r"},
		{"in the attribute of an end tag", `</a title="` + meta + `">`, ""},
		{"an attribute without quotes", `<a title=x"` + meta, ""},
		{"an attribute without an end", `<a title="` + meta, ""},
		{"doctype", "<!doctype html>" + meta, "koi8-r"},
		{"quotes in a doctype", `<!doctype html "` + meta, ""},
		{"quotes in a doctype, and its end", `<!doctype html ">` + meta, "koi8-r"},
		{"processing instruction", "<?x " + meta + meta, "koi8-r"},
		{"end tag without a name", "</ " + meta + meta, "koi8-r"},
		{"less-than sign", "<< <3 " + meta, "koi8-r"},
		{"in a script, which is not looked at as one", "<script>'" + meta + "'</script>", "koi8-r"},
		{"in a title", "<title>" + meta, "koi8-r"},

		{"XML declaration", `<?xml version="1.0" encoding="koi8-r"?>`, "koi8-r"},
		{"XML declaration with spaces", "<?xml encoding \n=\x01 'koi8-r'>", "koi8-r"},
		{"XML declaration in upper case", `<?XML encoding="koi8-r"?>`, ""},
		{"XML declaration behind a space", ` <?xml encoding="koi8-r"?>`, ""},
		{"XML declaration without quotes", `<?xml encoding=koi8-r?>`, ""},
		{"XML declaration with a space in its label", `<?xml encoding="koi8-r "?>`, ""},
		{"XML declaration without an end", `<?xml encoding="koi8-r"`, ""},
		{"XML declaration without its other quote", `<?xml encoding="koi8-r?>`, ""},
		{"XML declaration of UTF-16", `<?xml encoding="utf-16"?>`, "utf-8"},
		{"meta over XML declaration", `<?xml encoding="big5"?>` + meta, "koi8-r"},
		{"XML declaration in UTF-16", "<\x00?\x00x\x00m\x00l\x00", "utf-16le"},
		{"XML declaration in big-endian UTF-16", "\x00<\x00?\x00x\x00m\x00l", "utf-16be"},

		{"the last bytes of the first kilobyte", filled(1024-len(meta), "") + meta, "koi8-r"},
		{"across the end of the first kilobyte", filled(1010, "<html>") + meta, "koi8-r"},
		{"at byte 3,000 of a head", filled(3000, "<!doctype html><html><head><title>x</title><script>if (a<b) '"+meta+"'.x</script>") + "<link rel=a href=b>" + meta, "koi8-r"},
		{"at byte 3,000 of a head, behind a long script", "<head><script>" + filled(2900, "'<p>'") + "</script><style>" + filled(90, "<p>") + "</style>" + meta, "koi8-r"},
		{"at byte 3,000, in a script", filled(2990, "<head>") + "<script>" + meta + "</script>", ""},
		{"at byte 3,000, behind the head", filled(3000, "<head></head>") + meta, ""},
		{"at byte 3,000 of a body", filled(3000, "<p>") + meta, ""},
		{"in the first kilobyte of a body", filled(900, "<p>") + meta, "koi8-r"},
		{"behind 4 KB", filled(4090, "<head>") + meta, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := []byte(c.page)
			name := byForm(page, ascii(page))
			if !strings.HasPrefix(name, "utf-16") {
				name = byDeclaration(page, "text/html")
			}
			if name != c.want {
				t.Errorf("%.200q declares %q, want %q", c.page, name, c.want)
			}
		})
	}
}

// FuzzPrescan checks that what was found stays when more comes behind, and when text stands before it.
func FuzzPrescan(f *testing.F) {
	for _, s := range []string{"<meta charset=koi8-r>", "<meta http-equiv=content-type content='charset=big5'>", "<!--><a b='>'></c d><?e><meta/charset =\"x\" >", "<?xml encoding='koi8-r'?>", "<script><meta "} {
		f.Add([]byte(s), []byte("<meta charset=utf-8>"))
	}
	f.Fuzz(func(t *testing.T, page, more []byte) {
		name := byMeta(page)
		if name != readable(standardName(name)) {
			t.Fatalf("%q declares %q", page, name)
		}
		if name == "" || len(page) > 1000 {
			return
		}
		if longer := byMeta(append(page[:len(page):len(page)], more...)); longer != name {
			t.Errorf("%q declares %q, and with %q behind it %q", page, name, more, longer)
		}
		if later := byMeta(append([]byte("text > and - "), page...)); later != name {
			t.Errorf("%q declares %q, and behind text %q", page, name, later)
		}
	})
}
