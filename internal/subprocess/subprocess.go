// Package subprocess is for programs that webrace starts: none outlives it, and none is told more of its environment
// than was named for it.
package subprocess

import (
	"maps"
	"os"
	"slices"
)

// base are the variables that every program gets: where things are, and how texts and times are written.
var base = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	// Windows programs do not start, or find nothing, without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
}

// Environment returns the environment of a program: of this process's variables those of the base, and those that are
// named, which take precedence.
func Environment(named map[string]string) []string {
	var all []string
	for _, name := range base {
		if value, set := os.LookupEnv(name); set {
			all = append(all, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all = append(all, name+"="+named[name])
	}
	return all
}
