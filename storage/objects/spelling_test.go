package objects

import "testing"

func TestADocumentIsFoundByEachSpellingOfItsURL(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const lower, upper, bare = "http://a.test/%7ejoe/%c3%a9?q=%2fx", "http://a.test/%7Ejoe/%C3%A9?q=%2Fx", "http://a.test/~joe/%C3%A9?q=%2Fx"
	keepView(t, s, "", lower, "a page")
	keepView(t, s, "ann", upper, "for ann")
	keepView(t, s, "", "http://a.test/%7ejoe/", "a directory")
	keepView(t, s, "", "http://b.test/~joe", "with a tilde")
	keepView(t, s, "", "http://b.test/%7Ejoe", "with another")
	for _, c := range []struct{ secret, url, want string }{
		{"", lower, lower}, {"", upper, lower}, {"", bare, lower}, {"", "http://a.test/%7ej%6fe/%C3%A9?q=%2fx", lower},
		{"ann", lower, upper}, {"ann", bare, upper}, {"bob", bare, bare},
		{"", "http://a.test/~joe/", "http://a.test/%7ejoe/"}, {"", "http://a.test/~jo", "http://a.test/~jo"}, {"", "http://a.test/~joe/%C3%A9", "http://a.test/~joe/%C3%A9"},
		{"", "http://b.test/~joe", "http://b.test/~joe"}, {"", "http://b.test/%7Ejoe", "http://b.test/%7Ejoe"}, {"", "http://b.test/%7ejoe", "http://b.test/~joe"},
		{"", "http://a.test/~joe/%C3%A9?q=/x", "http://a.test/~joe/%C3%A9?q=/x"}, // another page
		{"", "no URL", "no URL"}, {"", "", ""},
	} {
		if got := s.Spelling(c.secret, c.url); got != c.want {
			t.Errorf("%s is stored as %s, want %s", c.url, got, c.want)
		}
	}
}
