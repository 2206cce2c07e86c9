package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/admin"
)

// adminToken is the environment variable that holds the token of the admin server.
const adminToken = "WEBRACE_ADMIN_TOKEN"

// adminFlags determine where else than at its socket a process shows what it is doing.
type adminFlags struct {
	address   string
	tokenFile string
}

func (f *adminFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "admin", "", "serve the admin page, metrics and control at `HOST:PORT`; other machines need a token")
	c.Flags().StringVar(&f.tokenFile, "admin-token-file", "", "read the token that --admin demands from a `FILE` (or set "+adminToken+")")
}

// endpoint returns the one that the flags ask for, or nil.
func (f *adminFlags) endpoint() (*admin.Endpoint, error) {
	if f.address == "" {
		if f.tokenFile != "" {
			return nil, cli.Wrongf("--admin-token-file is of no use without --admin HOST:PORT")
		}
		return nil, nil
	}
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	endpoint, err := admin.NewEndpoint(f.address, token)
	if errors.Is(err, admin.ErrTokenNeeded) {
		return nil, cli.Wrongf("--admin %w: give one by --admin-token-file FILE or %s, or serve it on 127.0.0.1 alone", err, adminToken)
	}
	if err != nil {
		return nil, cli.Wrongf("--admin: %w", err)
	}
	return endpoint, nil
}

func (f *adminFlags) token() (string, error) {
	if f.tokenFile == "" {
		return os.Getenv(adminToken), nil
	}
	text, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", cli.Wrongf("--admin-token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", cli.Wrongf("--admin-token-file %s: it is empty", f.tokenFile)
	}
	return token, nil
}

// serveAdmin serves a handler at an endpoint, if there is one, and prints where. The function that it returns ends
// it, and may be called twice.
func serveAdmin(endpoint *admin.Endpoint, handler http.Handler, out *output) (stop func(), err error) {
	if endpoint == nil {
		return func() {}, nil
	}
	listener, err := endpoint.Listen()
	if err != nil {
		return nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("--admin: %w", err)}
	}
	out.note("admin server at http://%s/", listener.Addr())
	return admin.Serve(listener, endpoint.Guard(handler)), nil
}
