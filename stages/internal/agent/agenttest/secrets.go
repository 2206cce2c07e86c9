package agenttest

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil"
)

// Authority is one that the tests of a package trust which are run by Main.
var Authority *testutil.Authority

// Main runs the tests of a package, and holds that nothing is left running behind them.
func Main(m goleak.TestingM) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	if Authority, err = testutil.NewAuthority(); err != nil {
		log.Fatal(err)
	}
	trusted, err := Authority.Write(dir)
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("SSL_CERT_FILE", trusted) // is read at the first handshake
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		os.RemoveAll(dir)
		os.Exit(status)
	}))
}

// Secrets are those that a test lends to a stage, by their names.
type Secrets map[string]credentials.Secret

// Secret returns one of them.
func (s Secrets) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}

// SecretVersion grows with each secret that was replaced.
func (s Secrets) SecretVersion(string) uint64 { return uint64(len(s)) }

// StartOf knows no crawl.
func (Secrets) StartOf(context.Context, string) (string, error) { return "", credentials.ErrNotFound }

// Replace sets a secret anew. The one that stood there is found by no name that a URD has.
func (s Secrets) Replace(name string, by credentials.Secret) {
	s[fmt.Sprintf("%s until %d", name, len(s))], s[name] = s[name], by
}

// Account is the secret of an account at a host. It may be sent to it so that others can read it, or not.
func Account(t testing.TB, user, password, host string, insecure bool) credentials.Secret {
	t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{host}, insecure)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Within(bounds)
}
