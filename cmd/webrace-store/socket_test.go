package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// throughSocket is set for commands that are to find their data directory in use.
const throughSocket = "WEBRACE_STORE_THROUGH_SOCKET"

// mainAsAsked is main; if that is asked for, beside a process that has the data directory open and answers at its
// socket, or on a node of a cluster.
func mainAsAsked() {
	switch {
	case os.Getenv(overCluster) != "":
		os.Exit(mainOverCluster(os.Getenv(overCluster)))
	case os.Getenv(throughSocket) == "":
		main()
		return
	}
	root := storecmd.New(os.Args[1:])
	ask, closeOwner := root.PersistentPreRunE, func() {}
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		closeOwner = own(c)
		return ask(c, args)
	}
	status := cli.Main(root)
	closeOwner()
	os.Exit(status)
}

// own opens the data directory of a command and answers at its socket, until the function that it returns is
// called. A directory that cannot be had is left to the command.
func own(c *cobra.Command) (closeOwner func()) {
	globals := cli.Globals{Config: flag(c, "config"), Data: flag(c, "data")}
	stores, err := globals.OpenExisting()
	if err != nil {
		return func() {}
	}
	listener, err := admin.Listen(stores.Path(storage.SocketName))
	if err != nil {
		panic(err)
	}
	face := admin.New()
	face.Handle("POST "+remote.Path, &remote.Server{Run: storecmd.Answer(stores.Dir), Logger: slog.Default()})
	server := &http.Server{Handler: face}
	go server.Serve(listener)
	return func() {
		server.Close()
		if err := stores.Close(); err != nil {
			panic(err)
		}
	}
}

func flag(c *cobra.Command, name string) string {
	value, err := c.Flags().GetString(name)
	if err != nil {
		panic(err)
	}
	return value
}
