package control_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
)

// Of a secret that comes from elsewhere it is stored where, encrypted and bound like any, and nothing of itself.
func TestASecretThatComesFromElsewhereIsReadThereAndNotCopied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "control.db"), filepath.Join(dir, "token")
	become := func(value string) { ok(t, os.WriteFile(file, []byte(value+"\n"), 0o600)) }
	become(hush)
	s := openAt(t, path)
	ctx := t.Context()
	bounds, err := credentials.NewBounds([]string{"a.example"}, false)
	ok(t, err)
	from := credentials.Origin{File: file}
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBasic, "eleni", hush).Within(bounds).From(from)))
	_, err = s.RotateKey(ctx)
	ok(t, err)
	backup := filepath.Join(dir, "copy.db")
	ok(t, s.Backup(ctx, backup))
	ok(t, s.Close())
	for _, name := range []string{path, path + "-wal", backup} {
		if content, err := os.ReadFile(name); err == nil && (bytes.Contains(content, []byte(hush)) || bytes.Contains(content, []byte(file))) {
			t.Errorf("%s has it, or where it comes from, in clear", name)
		}
	}
	s = openAt(t, path)
	mustBe := func(value string) {
		t.Helper()
		got, err := s.Secret(ctx, "bank")
		ok(t, err)
		if name, v := got.Reveal(); name != "eleni" || v != value || got.Kind() != credentials.KindBasic || !got.Bounds().Admit("a.example") {
			t.Errorf("it is %s, %s", name, v)
		}
	}
	mustBe(hush)
	version := s.SecretVersion("bank")
	become(hush + "-2")
	mustBe(hush)  // it was not refused
	for range 2 { // the second was refused as well, before it heard of the new one
		if renewed, err := s.RenewSecret(ctx, "bank", version); !renewed || err != nil {
			t.Errorf("renewed %v, %v", renewed, err)
		}
	}
	mustBe(hush + "-2")
	become(hush + "-3")
	if renewed, err := s.RenewSecret(ctx, "bank", s.SecretVersion("bank")); renewed || err != nil {
		t.Errorf("twice within a minute: %v, %v", renewed, err)
	}
	info := gather(t, s.Secrets(ctx))[0]
	if !reflect.DeepEqual(info.Origin, from) || info.Unreadable || strings.Contains(fmt.Sprintf("%+v", info), hush) {
		t.Errorf("listed as %+v", info)
	}
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBasic, "eleni", hush+"-2").Within(bounds).From(from)))
	mustBe(hush + "-3") // which has it read
	ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBasic, "eleni", "copied").Within(bounds)))
	mustBe("copied")
	if renewed, err := s.RenewSecret(ctx, "bank", s.SecretVersion("bank")); renewed || err != nil {
		t.Errorf("one that is stored: %v, %v", renewed, err)
	}
	if err := s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush).From(credentials.Origin{File: "relative"})); err == nil {
		t.Error("a path that is not in full is stored")
	}
}

func TestASecretThatCannotBeReadWhereItComesFromIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	s := openAt(t, filepath.Join(dir, "control.db"))
	ctx := t.Context()
	for content, want := range map[string]string{
		hush + "\xff": "no text", hush + "\nmore": "line breaks", "": "holds nothing",
	} {
		ok(t, os.WriteFile(file, []byte(content), 0o600))
		ok(t, s.SetSecret(ctx, "bank", secret(t, credentials.KindBearer, "", hush).From(credentials.Origin{File: file})))
		_, err := s.Secret(ctx, "bank")
		if err == nil || !strings.Contains(err.Error(), "secret bank cannot be read") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hush) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if found := fsckOf(t, s, false); len(found) != 0 {
		t.Errorf("fsck found %v: what is stored is whole", found)
	}
	ok(t, os.Remove(filepath.Join(dir, control.KeyFile)))
	if info := gather(t, s.Secrets(ctx))[0]; !info.Unreadable || !info.Origin.IsZero() {
		t.Errorf("without the key it is listed as %+v", info)
	}
}
