package control_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// hush is what must never be seen.
const hush = "hush-6f1d"

func secret(t *testing.T, kind control.Kind, name, value string) control.Secret {
	t.Helper()
	s, err := control.NewSecret(kind, name, value)
	ok(t, err)
	return s
}

func TestASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := secret(t, control.KindBasic, "user-"+hush, hush)
	holder := struct {
		Public  control.Secret
		private control.Secret
		Pointer *control.Secret
		Any     any
	}{s, s, &s, s}
	var said []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		said = append(said, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []control.Secret{s}))
	}
	var logged bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(handler).Info("x", "secret", s, "pointer", &s, "holder", holder, "group", slog.GroupValue(slog.Any("in", s)))
	}
	asJSON, err := json.Marshal(holder)
	ok(t, err)
	asKey, err := json.Marshal(map[string]any{"a": []any{s, &s}})
	ok(t, err)
	asXML, err := xml.Marshal(struct {
		XMLName xml.Name       `xml:"x"`
		Element control.Secret `xml:"e"`
		Attr    control.Secret `xml:"a,attr"`
	}{Element: s, Attr: s})
	ok(t, err)
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
		kind        control.Kind
		name, value string
	}{
		{"other", "", hush}, {control.KindBasic, "", hush}, {control.KindBasic, "a:b", hush}, {control.KindBearer, "a", hush}, {control.KindBearer, "", ""},
		{control.KindHeader, "", hush}, {control.KindHeader, "a b", hush}, {control.KindCookie, "", hush + "\r\nHost: x"},
	} {
		if _, err := control.NewSecret(c.kind, c.name, c.value); err == nil || strings.Contains(err.Error(), hush) {
			t.Errorf("%v: %v", c.kind, err)
		}
	}
}

func TestSecretsAreKeptEncrypted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	keyFile := filepath.Join(filepath.Dir(path), control.KeyFile)
	if _, err := os.Stat(keyFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a key that nobody needed: %v", err)
	}
	all := map[string]control.Secret{
		"a": secret(t, control.KindBasic, "eleni", hush), "b": secret(t, control.KindBearer, "", hush),
		"c": secret(t, control.KindHeader, "X-Key", hush), "d": secret(t, control.KindCookie, "", "session="+hush),
	}
	for name, value := range all {
		ok(t, s.SetSecret(ctx, name, value))
	}
	ok(t, s.SetSecret(ctx, "a", all["a"]))
	if info, err := os.Stat(keyFile); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	ok(t, s.Backup(ctx, backup))
	ok(t, s.Close())
	for _, file := range []string{path, path + "-wal", backup} {
		content, err := os.ReadFile(file)
		if err == nil && bytes.Contains(content, []byte(hush)) {
			t.Errorf("%s has it in clear", file)
		}
	}
	s = openAt(t, path)
	for name, want := range all {
		got, err := s.Secret(ctx, name)
		ok(t, err)
		gotName, gotValue := got.Reveal()
		if wantName, wantValue := want.Reveal(); got.Kind() != want.Kind() || gotName != wantName || gotValue != wantValue {
			t.Errorf("%s is another", name)
		}
	}
	infos := gather(t, s.Secrets(ctx))
	if len(infos) != 4 || infos[0].Name != "a" || infos[0].Kind != control.KindBasic || infos[0].Created.IsZero() || strings.Contains(fmt.Sprintf("%+v", infos), hush) {
		t.Errorf("infos %+v", infos)
	}
	if _, err := s.Secret(ctx, "none"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "none") {
		t.Errorf("what is not there: %v", err)
	}
	for _, name := range []string{"", "a b", strings.Repeat("x", 300)} {
		if err := s.SetSecret(ctx, name, all["a"]); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

func TestTheWrongKeyFileIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	keyFile := filepath.Join(filepath.Dir(path), control.KeyFile)
	s := openAt(t, path)
	ctx := t.Context()
	ok(t, s.SetSecret(ctx, "bank", secret(t, control.KindBearer, "", hush)))
	ok(t, s.SetSecret(ctx, "shop", secret(t, control.KindBearer, "", "other")))
	right, err := os.ReadFile(keyFile)
	ok(t, err)
	key := gather(t, s.Secrets(ctx))[0].Key
	tampered := strings.Replace(string(right), " ", "  ", 1)
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"another key":    {"webrace-key-1 0123456789abcdef " + strings.Repeat("A", 43) + "=\n", 0o600, "under key " + key},
		"open to others": {string(right), 0o640, "chmod 600"},
		"damaged":        {"hello\n", 0o600, "damaged"},
		"empty":          {"", 0o600, "empty"},
		"another value":  {"webrace-key-1 " + key + " " + strings.Repeat("A", 43) + "=\n", 0o600, "damaged or moved"},
	} {
		ok(t, os.WriteFile(keyFile, []byte(c.content), 0o600))
		ok(t, os.Chmod(keyFile, c.mode))
		if runtime.GOOS == "windows" && c.mode != 0o600 {
			continue
		}
		_, err := s.Secret(ctx, "bank")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), hush) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		found := fsckOf(t, s, false)
		if len(found) != 2 || found[0].Kind != "unreadable secret" {
			t.Errorf("%s: fsck found %v", name, found)
		}
	}
	ok(t, os.Remove(keyFile))
	if err := s.SetSecret(ctx, "new", secret(t, control.KindBearer, "", "x")); err == nil || !strings.Contains(err.Error(), "restore it") {
		t.Errorf("a second key beside one that is lost: %v", err)
	}
	ok(t, os.WriteFile(keyFile, []byte(tampered), 0o600))
	ok(t, os.Chmod(keyFile, 0o600))
	_, err = s.Secret(ctx, "bank")
	ok(t, err)

	// What is encrypted is bound to its name: one row cannot be put in place of another.
	execute(t, path, "UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'bank') WHERE name = 'shop'")
	if _, err := s.Secret(ctx, "shop"); err == nil || !strings.Contains(err.Error(), "moved") {
		t.Errorf("a moved value: %v", err)
	}
	execute(t, path, "UPDATE secret SET sealed = x'00' WHERE name = 'shop'")
	if _, err := s.Secret(ctx, "shop"); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("a short value: %v", err)
	}
}

func TestRotationLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	keyFile := filepath.Join(filepath.Dir(path), control.KeyFile)
	s := openAt(t, path)
	ctx := t.Context()
	for n := range 5 {
		ok(t, s.SetSecret(ctx, fmt.Sprint("s", n), secret(t, control.KindBearer, "", fmt.Sprint(hush, n))))
	}
	old, err := os.ReadFile(keyFile)
	ok(t, err)
	readable := func(when string) {
		t.Helper()
		for n := range 5 {
			got, err := s.Secret(ctx, fmt.Sprint("s", n))
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if _, value := got.Reveal(); value != fmt.Sprint(hush, n) {
				t.Errorf("%s: s%d is another", when, n)
			}
		}
	}
	var rotating sync.WaitGroup
	for range 3 {
		rotating.Go(func() {
			if n, err := s.RotateKey(ctx); n != 5 || err != nil {
				t.Errorf("%d secrets: %v", n, err)
			}
		})
	}
	rotating.Wait()
	readable("rotated")
	rotated, err := os.ReadFile(keyFile)
	ok(t, err)
	if bytes.Equal(old, rotated) || bytes.Count(rotated, []byte("\n")) != 1 {
		t.Errorf("the key file has %d keys", bytes.Count(rotated, []byte("\n")))
	}
	// Interrupted after the new key was written, before or after the secrets were.
	next := "webrace-key-1 0123456789abcdef " + strings.Repeat("B", 43) + "=\n"
	ok(t, os.WriteFile(keyFile, append([]byte(next), rotated...), 0o600))
	readable("interrupted")
	ok(t, s.SetSecret(ctx, "s0", secret(t, control.KindBearer, "", hush+"0")))
	readable("set after an interruption")
	if _, err := s.RotateKey(ctx); err != nil {
		t.Fatal(err)
	}
	readable("rotated again")
}

func TestASecretInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	a, b := urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/")
	a.Secret, b.Secret = "bank", "shop"
	put(t, s, a, b, urd("c", "eleni", "http://c.example/"))
	unknown, err := s.UnknownSecrets(ctx, []*xmlschema.URD{b, a, b})
	if err != nil || !slices.Equal(unknown, []string{"bank", "shop"}) {
		t.Errorf("unknown: %v, %v", unknown, err)
	}
	ok(t, s.SetSecret(ctx, "bank", secret(t, control.KindBearer, "", hush)))
	var used *control.SecretInUseError
	if err := s.DeleteSecret(ctx, "bank", false); !errors.As(err, &used) || !slices.Equal(used.URDs, []string{"a"}) || !strings.Contains(err.Error(), "URDs a:") {
		t.Errorf("deleting what is used: %v", err)
	}
	if unknown, err := s.UnknownSecrets(ctx, []*xmlschema.URD{a, b}); err != nil || !slices.Equal(unknown, []string{"shop"}) {
		t.Errorf("unknown: %v, %v", unknown, err)
	}
	ok(t, s.DeleteSecret(ctx, "bank", true))
	if err := s.DeleteSecret(ctx, "bank", true); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
}

func TestBoundsAreNormalizedAndWhatIsTooWideIsRefused(t *testing.T) {
	t.Parallel()
	b, err := control.NewBounds([]string{"Example.ORG:443", "example.org", "*.Example.org", "bücher.example:8443"}, true)
	if want := []string{"*.example.org", "example.org", "xn--bcher-kva.example:8443"}; err != nil || !slices.Equal(b.Hosts, want) || !b.Insecure {
		t.Errorf("%+v, %v", b, err)
	}
	for _, host := range []string{"", "*.", "*", "*.org", "*.co.uk", "*.github.io", "*.10.0.0.1", "*.example.org:8443", "a b", "https://a.example", "a.example/x", "user@a.example", "a..*"} {
		if b, err := control.NewBounds([]string{host}, false); err == nil {
			t.Errorf("%q is taken for %v", host, b.Hosts)
		}
	}
}

func TestTheBoundsOfASecretCannotBeWidenedInTheDatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	bounds, err := control.NewBounds([]string{"a.example"}, false)
	ok(t, err)
	ok(t, s.SetSecret(ctx, "bank", secret(t, control.KindBearer, "", hush).Within(bounds)))
	before := s.SecretVersion("bank")
	got, err := s.Secret(ctx, "bank")
	ok(t, err)
	infos := gather(t, s.Secrets(ctx))
	if !slices.Equal(got.Bounds().Hosts, bounds.Hosts) || !slices.Equal(infos[0].Bounds.Hosts, bounds.Hosts) {
		t.Errorf("its bounds are %v and are listed as %v", got.Bounds(), infos[0].Bounds)
	}
	_, err = s.RotateKey(ctx)
	ok(t, err)
	if got, err := s.Secret(ctx, "bank"); err != nil || !slices.Equal(got.Bounds().Hosts, bounds.Hosts) {
		t.Errorf("after a rotation: %v, %v", got.Bounds(), err)
	}
	for _, text := range []string{"", "evil.example", "http:// a.example"} {
		execute(t, path, "UPDATE secret SET bounds = '"+text+"'")
		if _, err := s.Secret(ctx, "bank"); err == nil {
			t.Errorf("with the bounds %q it can be read", text)
		}
	}
	ok(t, s.SetSecret(ctx, "bank", secret(t, control.KindBearer, "", hush)))
	if s.SecretVersion("bank") == before {
		t.Error("its version is that of before it was set anew")
	}
}
