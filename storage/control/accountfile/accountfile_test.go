package accountfile_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
	"github.com/webrace/webrace/xmlschema"
)

// world returns a store in which eleni and costas have one of everything each, all of which names its owner. Of three
// annotations each may be told of two.
func world(t *testing.T) *control.Store {
	t.Helper()
	s, err := control.Open(filepath.Join(t.TempDir(), "control.db"), control.Options{})
	ok(t, err)
	t.Cleanup(func() { s.Close() })
	ctx := t.Context()
	for _, owner := range []string{"eleni", "costas"} {
		ok(t, s.AddAccount(ctx, control.Account{Owner: owner, State: control.AccountInvited, Mail: owner + "@a.example", Profile: []byte(`{"zone":"` + owner + `"}`)}, false))
		ok(t, s.SetPassword(ctx, owner, "hush-hash"))
		ok(t, s.AddToken(ctx, "hush-token-"+owner, control.Token{Owner: owner, Purpose: control.PurposeAPI, Expires: time.Now().Add(time.Hour)}))
		ok(t, s.PutWebSession(ctx, control.WebSession{Hash: "hush-session-" + owner, Owner: owner, Expires: time.Now().Add(time.Hour)}))
		o := s.Of(owner)
		secret, err := credentials.NewSecret(credentials.KindBearer, "", "hush-secret")
		ok(t, err)
		ok(t, o.SetSecret(ctx, "own-"+owner, secret))
		u := xmlschema.NewURD(owner, "http://"+owner+".example/")
		u.ID, u.Keywords = "u-"+owner, xmlschema.NewKeywords(xmlschema.Keyword{Key: "ibm"})
		_, err = o.Put(ctx, []*xmlschema.URD{u})
		ok(t, err)
		n, err := o.AddChannel(ctx, control.Channel{
			Kind: control.ChannelWebhook, Name: "hook-" + owner, Address: channel.NewAddress("https://"+owner+".example/hook", "hush-key"), State: control.ChannelActive,
		})
		ok(t, err)
		ok(t, s.SetBudget(ctx, owner, &control.Budget{Alerts: 2}))
		var acis []*xmlschema.ACI
		for i := range 3 {
			acis = append(acis, &xmlschema.ACI{
				ID: fmt.Sprint(owner, i), URD: u.ID, Owner: owner, URI: fmt.Sprintf("http://%s.example/%d", owner, i), Title: "<Title> & more",
				Format: xmlschema.FormatHTML, Urgency: 1, UpdateTime: time.Unix(1e9, 0).UTC(), Docbase: xmlschema.Docbase{Version: 1 + i},
			})
		}
		_, err = s.PutACIs(ctx, acis)
		ok(t, err)
		_, err = s.File(ctx, []control.Filing{{ID: owner + "0", Entries: []control.Entry{{Channel: n, Due: time.Unix(1e9, 0)}}}})
		ok(t, err)
		_, err = s.Compose(ctx, time.Now(), 9, func(int64, []string) string { return "message-" + owner })
		ok(t, err)
	}
	return s
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, s *control.Store, owner string) (accountfile.Written, map[string]string, []string) {
	t.Helper()
	a, err := s.Account(t.Context(), owner)
	ok(t, err)
	var b bytes.Buffer
	written, err := accountfile.Write(t.Context(), &b, s.Of(owner), a)
	ok(t, err)
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	ok(t, err)
	parts := make(map[string]string)
	var names []string
	for _, f := range archive.File {
		in, err := f.Open()
		ok(t, err)
		content, err := io.ReadAll(in)
		ok(t, err)
		parts[f.Name] = string(content)
		names = append(names, f.Name)
	}
	return written, parts, names
}

func TestAFileHoldsAllOfItsOwner(t *testing.T) {
	t.Parallel()
	written, parts, names := export(t, world(t), "eleni")
	if written != (accountfile.Written{URDs: 1, ACIs: 2}) {
		t.Errorf("it says that %+v were written", written)
	}
	want := map[string][]string{
		"account.json":      {`"owner": "eleni"`, `"mail": "eleni@a.example"`, `"zone": "eleni"`},
		"profile.xml":       {`<profile xmlns="urn:webrace:1" owner="eleni" state="active" created="`, `"><mail>eleni@a.example</mail><zone>eleni</zone></profile>`},
		"urds.xml":          {`<urd id="u-eleni"`},
		"annotations.xml":   {`<aci id="eleni0"`, `<aci id="eleni1"`},
		"annotations.jsonl": {`{"id":"eleni0"`, `"title":"<Title> & more"`},
		"withheld.xml":      {`<aci id="eleni2"`},
		"marks.jsonl":       {`"id":"eleni0","state":"unread"}`},
		"channels.json":     {`"address": "https://eleni.example/hook"`},
		"sent.jsonl":        {`{"id":"message-eleni","channel":"hook-eleni","owner":"eleni","state":"waiting"`, `"entries":[{"key":"`, `"seq":1}]`},
	}
	if len(names) != len(want) {
		t.Errorf("its parts are %q", names)
	}
	for name, texts := range want {
		for _, text := range texts {
			if !strings.Contains(parts[name], text) {
				t.Errorf("%s has no %s:\n%s", name, text, parts[name])
			}
		}
	}
	if _, err := xmlschema.NewDecoder(strings.NewReader(parts["profile.xml"])).Profile(); err != nil {
		t.Errorf("profile.xml is not read: %v", err)
	}
	for name, read := range map[string]func(*xmlschema.Decoder) int{
		"urds.xml":        func(d *xmlschema.Decoder) int { return len(slices.Collect(d.URDs())) },
		"annotations.xml": func(d *xmlschema.Decoder) int { return len(slices.Collect(d.ACIs())) },
		"withheld.xml":    func(d *xmlschema.Decoder) int { return len(slices.Collect(d.ACIs())) },
	} {
		d := xmlschema.NewDecoder(strings.NewReader(parts[name]))
		if n := read(d); d.Err() != nil || n == 0 {
			t.Errorf("of %s are read %d: %v", name, n, d.Err())
		}
	}
}

func TestAFileHoldsNothingOfOthersAndNoSecret(t *testing.T) {
	t.Parallel()
	_, parts, _ := export(t, world(t), "eleni")
	for name, content := range parts {
		for _, not := range []string{"costas", "hush", "own-eleni"} {
			if strings.Contains(content, not) {
				t.Errorf("%s has %q:\n%s", name, not, content)
			}
		}
	}
}

// failing takes so many bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFileThatIsNotCompleteIsAnError(t *testing.T) {
	t.Parallel()
	s := world(t)
	a, err := s.Account(t.Context(), "eleni")
	ok(t, err)
	var whole bytes.Buffer
	_, err = accountfile.Write(t.Context(), &whole, s.Of("eleni"), a)
	ok(t, err)
	for left := 0; left < whole.Len()-64; left += 64 { // its length differs by the moment that it has
		if _, err := accountfile.Write(t.Context(), &failing{left}, s.Of("eleni"), a); !errors.Is(err, errFull) {
			t.Fatalf("of %d bytes %d were taken: %v", whole.Len(), left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var cut bytes.Buffer
	if _, err := accountfile.Write(ctx, &cut, s.Of("eleni"), a); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := zip.NewReader(bytes.NewReader(cut.Bytes()), int64(cut.Len())); err == nil {
		t.Error("what was canceled is taken for complete")
	}
}
