package pipeline

import (
	"path/filepath"

	"github.com/webrace/webrace/pipeline/finding"
)

// FileOwner is implemented by option structs (by value) of a stage that keeps a file which no other may have, such as
// one of positions: lint refuses it to two stages of a pipeline. The path is empty if there is none.
type FileOwner interface{ OwnFile() (option, path string) }

// checkFiles reports stages that would overwrite what another keeps.
func (l *linter) checkFiles() {
	owners := make(map[string]string)
	for _, s := range l.g.Stages {
		owner, owns := s.Options.(FileOwner)
		if !owns {
			continue
		}
		option, path := owner.OwnFile()
		if path == "" {
			continue
		}
		file := path
		if whole, err := filepath.Abs(path); err == nil {
			file = whole
		}
		if other, taken := owners[file]; taken {
			found := l.add(s.Pos, finding.CodeDuplicate, len(s.Name),
				"stages %q and %q have one file for %s, %s, and each would overwrite what the other keeps: name a file for each", other, s.Name, option, path)
			l.at(found, s, option)
		}
		owners[file] = s.Name
	}
}
