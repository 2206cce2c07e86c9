// Package finding holds what is found wrong with pipelines: what it is, where it stands, and what was probably meant.
// Configurations and graphs are checked to the end, and all that is wrong with them is reported at once, in a [List].
package finding

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/terminal"
)

// Finding is one thing that is wrong with a configuration.
type Finding struct {
	Pos     Position `json:"pos"`            // where; without a line if it is in no file
	Code    Code     `json:"code"`           // what, for programs
	Message string   `json:"message"`        // what, for people
	Hint    string   `json:"hint,omitempty"` // what was probably meant
	Path    string   `json:"path,omitempty"` // the key it is about: pipeline.search.stage.index.dir
	// Unset is the environment variable that is not set, and whose default the option at fault has: what was never set up.
	Unset string `json:"unset,omitempty"`
	// SourceLine is the line of the file that Pos is in.
	SourceLine string `json:"source_line,omitempty"`
	// Warning means that nothing is wrong yet: what it is about works as it is.
	Warning bool `json:"warning,omitempty"`

	Width int  `json:"-"` // characters that the finding is about
	Edit  Edit `json:"-"` // what mends it; zero if that is not known
}

// Edit replaces the bytes of a file from Start on which are Old; the zero value edits nothing.
type Edit struct {
	Start    int
	Old, New string
}

// Position is a place in a configuration file; the zero position is nowhere. Columns count characters,
// from 1.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Code is the kind of a finding. Codes do not change between versions.
type Code string

const (
	CodeSyntax          Code = "syntax"           // the file is no TOML
	CodeFile            Code = "file"             // a file cannot be read, or an include names none
	CodeVersion         Code = "version"          // version = 1 is missing
	CodeUnknownKey      Code = "unknown-key"      // a key outside the stages that nothing reads
	CodeUnknownOption   Code = "unknown-option"   // an option that the stage type does not have
	CodeWrongType       Code = "wrong-type"       // a value of another TOML type than the option's
	CodeBadValue        Code = "bad-value"        // a value that the option cannot have
	CodeUnsetVariable   Code = "unset-variable"   // ${NAME} of a variable that is not set
	CodeBadVariable     Code = "bad-variable"     // a ${ that is not followed by a name and }
	CodeInvalidOptions  Code = "invalid-options"  // options that the stage type's validation refuses
	CodeDuplicate       Code = "duplicate"        // a name in two places
	CodeBadName         Code = "bad-name"         // a name that no flow can contain
	CodeUnknownType     Code = "unknown-type"     // a stage type that does not exist
	CodeUnknownStage    Code = "unknown-stage"    // a stage that the pipeline does not have
	CodeUnknownPort     Code = "unknown-port"     // an output port that the stage does not have
	CodeUnknownPipeline Code = "unknown-pipeline" // a pipeline that the configuration does not have
	CodeFlow            Code = "flow"             // a flow that does not follow the grammar, or is missing
	CodeKind            Code = "kind"             // an edge between ports of different kinds
	CodeName            Code = "name"             // an expression names what nothing that comes has
	CodePart            Code = "part"             // a part of a value that the next stage needs is missing in some case
	CodeUnwired         Code = "unwired"          // a default port that leads nowhere
	CodeUnused          Code = "unused"           // a stage table that no flow mentions
	CodeNoInput         Code = "no-input"         // a stage that is no source and that nothing leads to
	CodeSourceInput     Code = "source-input"     // an edge that leads to a source
	CodeCycle           Code = "cycle"            // a cycle without a queue, or with two
	CodeCapacity        Code = "capacity"         // a stage that waits for more than comes
	CodeLossy           Code = "lossy"            // a source that answers before its items are kept; a warning
	CodeTimeout         Code = "timeout"          // a stage that keeps items for longer than their sender waits; a warning
	CodeStage           Code = "stage"            // a stage type that describes itself wrongly
	CodeSet             Code = "set"              // a --set that cannot be understood
	CodeDeprecated      Code = "deprecated"       // an option or a word by a name that it had; a warning
	CodeCluster         Code = "cluster"          // a stage that has no meaning where the work is divided among partitions
	CodeTest            Code = "test"             // a test that checks too little, or what makes no sense
	CodeEnvironment     Code = "environment"      // something a stage needs is not there; found by probing a graph, not by reading
)

// Error returns the finding in one line: file:line:col: message (did you mean ...?).
func (f Finding) Error() string {
	var b strings.Builder
	if at := f.Pos.String(); at != "" {
		b.WriteString(at + ": ")
	}
	b.WriteString(f.text())
	return b.String()
}

func (f Finding) text() string {
	text := f.Message
	if f.Warning {
		text = "warning: " + text
	}
	return text + suggest.DidYouMean(f.Hint)
}

// List is everything that is wrong with a configuration, in the order of the files and lines.
type List []Finding

// Error returns one line for each finding.
func (fs List) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the findings as errors.
func (fs List) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// Format writes the findings for a person: each in one line, then the line of the file, and a caret under
// the place. Nothing is coloured unless color is set.
func (fs List) Format(w io.Writer, color bool) error {
	bold, red, yellow, reset, shown := "", "", "", "", func(s string) string { return s }
	if color {
		bold, red, yellow, reset, shown = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m", terminal.Visible
	}
	var b strings.Builder
	for _, f := range fs {
		hue := red
		if f.Warning {
			hue = yellow
		}
		if at := f.Pos.String(); at != "" {
			fmt.Fprintf(&b, "%s%s:%s ", bold, shown(at), reset)
		}
		fmt.Fprintf(&b, "%s%s%s\n", hue, shown(f.text()), reset)
		if f.Pos.Line == 0 || f.SourceLine == "" {
			continue
		}
		number := fmt.Sprintf("%5d | ", f.Pos.Line)
		fmt.Fprintf(&b, "%s%s\n", number, shown(f.SourceLine))
		fmt.Fprintf(&b, "%s| %s%s%s%s\n", strings.Repeat(" ", len(number)-2), indentTo(f.SourceLine, f.Pos.Column), hue, strings.Repeat("^", max(1, f.Width)), reset)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// FormatOn writes the findings as Format does, for a terminal of so many columns: in colours, as all errors there,
// broken between words, and of a line that is longer the part that the finding is about.
func (fs List) FormatOn(w io.Writer, columns int) error {
	const bold, red, reset = "\x1b[1m", "\x1b[31m", "\x1b[0m"
	var b strings.Builder
	for _, f := range fs {
		at := f.Pos.String()
		if at != "" {
			at = bold + terminal.Visible(at) + ":" + reset + " "
		}
		b.WriteString(terminal.Wrap("error: "+at+red+terminal.Visible(f.text()), columns) + reset + "\n")
		if f.Pos.Line == 0 || f.SourceLine == "" {
			continue
		}
		number := fmt.Sprintf("%5d | ", f.Pos.Line)
		line, column := part(f.SourceLine, f.Pos.Column, columns-len(number))
		indent := indentTo(line, column)
		carets := min(max(1, f.Width), max(1, columns-len(number)-terminal.Columns(indent)))
		fmt.Fprintf(&b, "%s%s\n", number, terminal.Visible(line))
		fmt.Fprintf(&b, "%s| %s%s%s%s\n", strings.Repeat(" ", len(number)-2), indent, red, strings.Repeat("^", carets), reset)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// part returns what of a line fits into so many columns, with the place at a column, and where that is in it then.
func part(line string, column, room int) (string, int) {
	text := []rune(line)
	if len(text) <= room {
		return line, column
	}
	if cut := min(column-1-room/2, len(text)-room); cut > 0 {
		text, column = text[cut:], column-cut
		text[0] = '…'
	}
	if len(text) > room {
		text = text[:room]
		text[room-1] = '…'
	}
	return string(text), column
}

// indentTo returns the blanks that stand as far right as column does in line; tabs stay tabs.
func indentTo(line string, column int) string {
	var b strings.Builder
	for _, c := range line {
		if column--; column <= 0 {
			break
		}
		if c == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Sorted returns the findings in the order of their places, files in the order that the caller knows; those in no file
// come last, and one that was found twice comes once.
func (fs List) Sorted(order func(file string) int) List {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		nowhere := func(f Finding) int {
			if f.Pos.Line == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(
			cmp.Compare(nowhere(a), nowhere(b)), cmp.Compare(order(a.Pos.File), order(b.Pos.File)),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(fs)
}

// OrNil returns the findings as an error that is nil if there are none.
func (fs List) OrNil() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

// Apply makes the edits of findings that are about a file in what is in that file, and returns whose edits it made; one
// whose bytes are others by now is not made.
func (fs List) Apply(file string, content []byte) (edited []byte, made List) {
	edits := make(map[int]Finding)
	for _, f := range fs {
		if e := f.Edit; f.Pos.File == file && e != (Edit{}) && e.Start <= len(content) && bytes.HasPrefix(content[e.Start:], []byte(e.Old)) {
			edits[e.Start] = f
		}
	}
	at := 0
	for _, start := range slices.Sorted(maps.Keys(edits)) {
		f := edits[start]
		edited = append(append(edited, content[at:start]...), f.Edit.New...)
		at, made = start+len(f.Edit.Old), append(made, f)
	}
	return append(edited, content[at:]...), made
}
