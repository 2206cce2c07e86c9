// Command webrace-store looks into the stores of a data directory and changes them: what people asked
// for, what they were told and why, what was fetched, and what failed.
package main

import (
	"os"

	"github.com/webrace/webrace/cmd/internal/cli"
	_ "github.com/webrace/webrace/cmd/internal/quickstart" // first of all
	"github.com/webrace/webrace/cmd/internal/storecmd"
)

func main() { os.Exit(cli.Main(storecmd.New(os.Args[1:]))) }
