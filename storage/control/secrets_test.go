package control_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// hush is what must never be seen.
const hush = "hush-6f1d"

func secret(t *testing.T, kind credentials.Kind, name, value string) credentials.Secret {
	t.Helper()
	s, err := credentials.NewSecret(kind, name, value)
	ok(t, err)
	return s
}

func TestSecretsAreKeptEncrypted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	keyFile := filepath.Join(filepath.Dir(path), control.KeyFile)
	if _, err := os.Stat(keyFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a key that was not needed: %v", err)
	}
	all := map[string]credentials.Secret{
		"a": secret(t, credentials.KindBasic, "eleni", hush), "b": secret(t, credentials.KindBearer, "", hush),
		"c": secret(t, credentials.KindHeader, "X-Key", hush), "d": secret(t, credentials.KindCookie, "", "session="+hush),
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
	if len(infos) != 4 || infos[0].Name != "a" || infos[0].Kind != credentials.KindBasic || infos[0].Created.IsZero() || strings.Contains(fmt.Sprintf("%+v", infos), hush) {
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
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush)))
	ok(t, s.SetSecret(ctx, "shop", secret(t, credentials.KindBearer, "", "other")))
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
	if err := s.SetSecret(ctx, "new", secret(t, credentials.KindBearer, "", "x")); err == nil || !strings.Contains(err.Error(), "restore it") {
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
		ok(t, s.SetSecret(ctx, fmt.Sprint("s", n), secret(t, credentials.KindBearer, "", fmt.Sprint(hush, n))))
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
	ok(t, s.SetSecret(ctx, "s0", secret(t, credentials.KindBearer, "", hush+"0")))
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
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush)))
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

func TestTheBoundsOfASecretCannotBeWidenedInTheDatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	bounds, err := credentials.NewBounds([]string{"a.example"}, false)
	ok(t, err)
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush).Within(bounds)))
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
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush)))
	if s.SecretVersion("bank") == before {
		t.Error("its version is that of before it was set anew")
	}
}
