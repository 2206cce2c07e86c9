package credentials

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// account is a source of one form, which keeps sessions.
type account struct {
	*stored
	kept string
}

func (a *account) Session(context.Context, string) (string, error) { return a.kept, nil }

func (a *account) SetSession(_ context.Context, _, cookies string) error {
	a.kept = cookies
	return nil
}

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{stored: newStored()}
	secret, err := NewForm(Form{Page: "https://a.example/login", Password: "pw", Sign: Sign{Text: "Log out"}}, hush)
	if err != nil {
		t.Fatal(err)
	}
	a.secrets["s"], a.version["s"] = secret, 1
	return a
}

func TestALogInCountsOnceItHasThePassword(t *testing.T) {
	t.Parallel()
	b := NewBroker(newAccount(t), Limits{Refusals: 2, Pause: time.Hour})
	g, err := grant(t, b, "https://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	resting := errors.New("the host rests")
	for n := range 5 { // before the form is there
		if _, err := g.Session(t.Context(), 0, func(context.Context, Form, func() string, *Jar) error { return resting }); !errors.Is(err, resting) {
			t.Fatalf("log-in %d: %v", n, err)
		}
	}
	for n := range 3 {
		_, err := g.Session(t.Context(), 0, func(_ context.Context, _ Form, password func() string, _ *Jar) error {
			if password() != hush {
				t.Error("it is another password")
			}
			return resting
		})
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) != (n == 2) {
			t.Fatalf("log-in %d with the password: %v", n, err)
		}
	}
}

// The cookies of a log-in that was under way when another secret was stored are of the account before.
func TestASessionIsNotKeptForASecretThatWasSetAnewMeanwhile(t *testing.T) {
	t.Parallel()
	for _, anew := range []bool{false, true} {
		a := newAccount(t)
		b := NewBroker(a, Limits{Refusals: 2, Pause: time.Hour})
		g, err := grant(t, b, "https://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		number, err := g.Session(t.Context(), 0, func(_ context.Context, _ Form, password func() string, jar *Jar) error {
			jar.Keep(mustURL(t, "https://a.example/"), map[string][]string{"Set-Cookie": {fmt.Sprint("session=", len(password()))}})
			if anew {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.version["s"]++
			}
			return nil
		})
		if number != 1 || err != nil || (a.kept == "") != anew {
			t.Errorf("set anew: %t; session %d, %v, kept %q", anew, number, err, a.kept)
		}
		g.Close()
	}
}
