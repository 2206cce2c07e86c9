package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Versioned gives a command the flag --version: a line that tells what it was built from, and with --modules a line
// for each module as well, those of plugins too.
func Versioned(c *cobra.Command) {
	info, _ := debug.ReadBuildInfo()
	c.Version, c.Annotations = version(info, false), map[string]string{"modules": version(info, true)}
	c.Flags().Bool("modules", false, "with --version: also the version of every module that it was built from")
	c.SetVersionTemplate(`{{.DisplayName}} {{if eq (.Flag "modules").Value.String "true"}}{{.Annotations.modules}}{{else}}{{.Version}}{{end}}`)
}

// version describes a build in a line, and its modules in lines.
func version(info *debug.BuildInfo, modules bool) string {
	if info == nil {
		return fmt.Sprintf("unknown, %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %s/%s", cmp.Or(strings.Trim(info.Main.Version, "()"), "devel"), info.GoVersion, runtime.GOOS, runtime.GOARCH)
	if revision := settings["vcs.revision"]; revision != "" {
		changed := ""
		if settings["vcs.modified"] == "true" {
			changed = ", with changes"
		}
		if !modules {
			revision = revision[:min(len(revision), 12)]
		}
		fmt.Fprintf(&b, ", commit %s of %s%s", revision, settings["vcs.time"], changed)
	}
	b.WriteByte('\n')
	if !modules {
		return b.String()
	}
	for _, m := range info.Deps {
		fmt.Fprintf(&b, "  %s %s", m.Path, m.Version)
		if m.Replace != nil {
			fmt.Fprintf(&b, " => %s %s", m.Replace.Path, m.Replace.Version)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
