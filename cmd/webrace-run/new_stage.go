package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/build"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/scaffold"
)

func newNewStage() *cobra.Command {
	s := scaffold.Stage{}
	var dir string
	c := &cobra.Command{
		Use:   "new-stage NAME",
		Short: "write the beginning of a stage of your own: code, a test, a pipeline and a README",
		Long: `new-stage writes a stage that works as it is, into a directory of its name.
Nothing is overwritten.`,
		Example: `  webrace-run new-stage --kind exec-python shout    in Python, run as a program
  webrace-run new-stage --kind go shout             in Go, built in (webrace-run build)`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s.Name = args[0]
			s.Source = cmp.Or(s.Source, checkout())
			s.Version = sourceVersion(s.Source)
			if s.Source != "" {
				absolute, err := filepath.Abs(s.Source)
				if err != nil {
					return err
				}
				s.Source = absolute
			}
			written, err := s.Write(cmp.Or(dir, s.Name))
			if err != nil {
				return cli.Wrong(err)
			}
			slices.Sort(written)
			for _, file := range written {
				fmt.Fprintln(c.OutOrStdout(), file)
			}
			return nil
		},
	}
	c.Flags().StringVar(&s.Kind, "kind", scaffold.ExecPython, "`go or exec-python`")
	c.Flags().StringVar(&dir, "dir", "", "the `DIRECTORY` to write to (default: the name)")
	c.Flags().StringVar(&s.Module, "module", "", "the `PATH` of the module of a stage in Go (default: example.org/NAME)")
	c.Flags().StringVar(&s.Source, "source", "", "the `DIRECTORY` with the source of webrace that a stage in Go is built against (default: the checkout we are in, or this program's version)")
	return c
}

// checkout returns the directory of webrace's source that we are in, or "".
func checkout() string {
	dir, err := os.Getwd()
	for err == nil {
		text, readErr := os.ReadFile(filepath.Join(dir, "go.mod"))
		first, _, _ := strings.Cut(string(text), "\n")
		if readErr == nil && strings.TrimSpace(first) == "module "+build.Module {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// sourceVersion returns the version of webrace that a module requires: this program's, or any where
// its source is a directory.
func sourceVersion(source string) string {
	if source != "" {
		return "v0.0.0"
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == build.Module && info.Main.Version != "(devel)" {
		return cmp.Or(info.Main.Version, "latest")
	}
	return "latest"
}
