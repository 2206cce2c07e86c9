package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Versioned gives a command the flag --version: what it was built from, down to the versions of modules,
// those of plugins too.
func Versioned(c *cobra.Command) {
	info, _ := debug.ReadBuildInfo()
	c.Version = version(info)
	c.SetVersionTemplate("{{.Name}} {{.Version}}")
}

// version describes a build in lines.
func version(info *debug.BuildInfo) string {
	if info == nil {
		return fmt.Sprintf("unknown, %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %s/%s\n", cmp.Or(strings.Trim(info.Main.Version, "()"), "devel"), info.GoVersion, runtime.GOOS, runtime.GOARCH)
	if revision := settings["vcs.revision"]; revision != "" {
		changed := ""
		if settings["vcs.modified"] == "true" {
			changed = ", with changes"
		}
		fmt.Fprintf(&b, "commit %s of %s%s\n", revision, settings["vcs.time"], changed)
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
