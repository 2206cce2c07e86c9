package rdf_test

import (
	"testing"

	"github.com/webrace/webrace/internal/rdf"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	const base = "http://a/b/c/d;p?q"
	for _, c := range []struct{ base, ref, want string }{
		// RFC 3986, 5.4.1
		{base, "g:h", "g:h"}, {base, "g", "http://a/b/c/g"}, {base, "./g", "http://a/b/c/g"},
		{base, "g/", "http://a/b/c/g/"}, {base, "/g", "http://a/g"}, {base, "//g", "http://g"},
		{base, "?y", "http://a/b/c/d;p?y"}, {base, "g?y", "http://a/b/c/g?y"}, {base, "#s", "http://a/b/c/d;p?q#s"},
		{base, "g#s", "http://a/b/c/g#s"}, {base, "g?y#s", "http://a/b/c/g?y#s"}, {base, ";x", "http://a/b/c/;x"},
		{base, "g;x", "http://a/b/c/g;x"}, {base, "g;x?y#s", "http://a/b/c/g;x?y#s"}, {base, "", "http://a/b/c/d;p?q"},
		{base, ".", "http://a/b/c/"}, {base, "./", "http://a/b/c/"}, {base, "..", "http://a/b/"},
		{base, "../", "http://a/b/"}, {base, "../g", "http://a/b/g"}, {base, "../..", "http://a/"},
		{base, "../../", "http://a/"}, {base, "../../g", "http://a/g"},
		// 5.4.2
		{base, "../../../g", "http://a/g"}, {base, "../../../../g", "http://a/g"}, {base, "/./g", "http://a/g"},
		{base, "/../g", "http://a/g"}, {base, "g.", "http://a/b/c/g."}, {base, ".g", "http://a/b/c/.g"},
		{base, "g..", "http://a/b/c/g.."}, {base, "..g", "http://a/b/c/..g"}, {base, "./../g", "http://a/b/g"},
		{base, "./g/.", "http://a/b/c/g/"}, {base, "g/./h", "http://a/b/c/g/h"}, {base, "g/../h", "http://a/b/c/h"},
		{base, "g;x=1/./y", "http://a/b/c/g;x=1/y"}, {base, "g;x=1/../y", "http://a/b/c/y"},
		{base, "g?y/./x", "http://a/b/c/g?y/./x"}, {base, "g?y/../x", "http://a/b/c/g?y/../x"},
		{base, "g#s/./x", "http://a/b/c/g#s/./x"}, {base, "g#s/../x", "http://a/b/c/g#s/../x"},
		{base, "http:g", "http:g"},
		// What the RFC has no example of.
		{base, "http://x/a/../b?c/../d", "http://x/a/../b?c/../d"}, {base, "urn:a:../b", "urn:a:../b"},
		{base, "x:./a", "x:./a"}, {base, "x:..", "x:.."}, {base, "//g/../h", "http://g/h"}, {base, "#", base + "#"},
		{base, "?", "http://a/b/c/d;p?"}, {base, "Ελένη", "http://a/b/c/Ελένη"},
		{"http://a", "b", "http://a/b"}, {"http://a", "", "http://a"}, {"http://a?q", "b", "http://a/b"},
		{"http://a/b?q#f", "#g", "http://a/b?q#g"}, {"urn:a:b", "#c", "urn:a:b#c"}, {"urn:a:b", "c", "urn:c"},
		{"file:///a/b", "../c", "file:///c"}, {"http://a/b/", "c:d", "c:d"}, {"http://a/b/", "./c:d", "http://a/b/c:d"},
	} {
		got, err := rdf.Resolve(c.base, c.ref)
		if err != nil || got != c.want {
			t.Errorf("%q where the base is %s: %q, %v, want %q", c.ref, c.base, got, err, c.want)
		}
	}
	for _, base := range []string{"", "a", "/a", "1:a", ":a", "#a"} {
		if got, err := rdf.Resolve(base, "b"); err == nil {
			t.Errorf("%q is taken for a base: %s", base, got)
		}
	}
}
