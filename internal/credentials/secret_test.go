package credentials

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func secret(t *testing.T, kind Kind, name, value string) Secret {
	t.Helper()
	s, err := NewSecret(kind, name, value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := secret(t, KindBasic, "user-"+hush, hush)
	holder := struct {
		Public  Secret
		private Secret
		Pointer *Secret
		Any     any
	}{s, s, &s, s}
	var said []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		said = append(said, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []Secret{s}))
	}
	var logged bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(handler).Info("x", "secret", s, "pointer", &s, "holder", holder, "group", slog.GroupValue(slog.Any("in", s)))
	}
	asJSON, err := json.Marshal(holder)
	asKey, wrong := json.Marshal(map[string]any{"a": []any{s, &s}})
	asXML, bad := xml.Marshal(struct {
		XMLName xml.Name `xml:"x"`
		Element Secret   `xml:"e"`
		Attr    Secret   `xml:"a,attr"`
	}{Element: s, Attr: s})
	if err := errors.Join(err, wrong, bad); err != nil {
		t.Fatal(err)
	}
	said = append(said, logged.String(), string(asJSON), string(asKey), string(asXML), s.String(), fmt.Sprint(s), fmt.Errorf("e: %v", s).Error())
	for _, text := range said {
		if strings.Contains(text, hush) || strings.Contains(text, fmt.Sprintf("%x", hush)) {
			t.Errorf("said %s", text)
		}
	}
	if got := fmt.Sprintf("%s %#v", s, s); got != "[redacted] [redacted]" {
		t.Error(got)
	}
	if name, value := s.Reveal(); name != "user-"+hush || value != hush {
		t.Error("it was not revealed")
	}
}

func TestNonsenseIsNoSecretAndIsNotQuoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        Kind
		name, value string
	}{
		{"other", "", hush}, {KindBasic, "", hush}, {KindBasic, "a:b", hush}, {KindBearer, "a", hush}, {KindBearer, "", ""},
		{KindHeader, "", hush}, {KindHeader, "a b", hush}, {KindCookie, "", hush + "\r\nHost: x"},
		{KindNone, "", hush}, {KindNone, "a", ""},
	} {
		if _, err := NewSecret(c.kind, c.name, c.value); err == nil || strings.Contains(err.Error(), hush) {
			t.Errorf("%v: %v", c.kind, err)
		}
	}
}

func TestBoundsAreNormalizedAndWhatIsTooWideIsRefused(t *testing.T) {
	t.Parallel()
	b, err := NewBounds([]string{"Example.ORG:443", "example.org", "*.Example.org", "bücher.example:8443"}, true)
	if want := []string{"*.example.org", "example.org", "xn--bcher-kva.example:8443"}; err != nil || !slices.Equal(b.Hosts, want) || !b.Insecure {
		t.Errorf("%+v, %v", b, err)
	}
	for _, host := range []string{"", "*.", "*", "*.org", "*.co.uk", "*.github.io", "*.10.0.0.1", "*.example.org:8443", "a b", "https://a.example", "a.example/x", "user@a.example", "a..*"} {
		if b, err := NewBounds([]string{host}, false); err == nil {
			t.Errorf("%q is taken for %v", host, b.Hosts)
		}
	}
}
