package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// portalAddress is where the demo has the web application, as the shipped pipeline does.
const portalAddress = "127.0.0.1:8642"

// servePortal goes on crawling the site for the three owners, and for whatever they write in the web application, which
// it opens beside, until Ctrl-C.
func servePortal(c *cobra.Command, data, base string, run runFlags) error {
	address, err := freeAddress(portalAddress)
	if err != nil {
		return err
	}
	url := "http://" + address
	run.urds, run.continuous = "", true // those that are added later are crawled, too
	run.set = append(run.set, allowLoopback, "portal.listen="+address, "portal.portal.url="+url, "portal.outbox.url="+url)
	run.before = func(dir *storage.Dir) error { return invite(c.Context(), cli.Prose(c.OutOrStdout()), dir, base, url) }
	err = runPipelines(c, &cli.Globals{Data: data, Shipped: true}, run, []string{"webrace", "portal"}, nothingMore)
	if e := (*cli.Error)(nil); errors.As(err, &e) && e.Status == cli.Interrupted {
		return nil // as it was meant to end
	}
	return err
}

// freeAddress returns an address, or another of this machine's own where something listens there.
func freeAddress(address string) (string, error) {
	l, err := listenAt(address)
	if err != nil {
		return "", &cli.Error{Status: cli.Environment, Err: fmt.Errorf("open the web application: %w", err)}
	}
	return l.Addr().String(), l.Close()
}

// invite gives each owner an account, with what they have been told, and prints a link to it.
func invite(ctx context.Context, w io.Writer, dir *storage.Dir, site, url string) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nUntil you press Ctrl-C, the site is at %s,\nand each of the three has a link to the web application, which is good once:\n", site)
	for owner, err := range store.Owners(ctx) {
		if err != nil {
			return err
		}
		account, err := store.Account(ctx, owner.Name)
		if errors.Is(err, control.ErrNotFound) {
			account = control.Account{Owner: owner.Name, State: control.AccountInvited}
			err = store.AddAccount(ctx, account, true)
		}
		if err != nil {
			return err
		}
		link, _, err := storecmd.AddLink(ctx, store, account, url)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %-7s %s\n", owner.Name, link)
	}
	return nil
}
