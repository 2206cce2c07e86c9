package pipeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
)

// Finding is one thing that is wrong with a configuration.
type Finding struct {
	Pos     Position `json:"pos"`            // where; without a line if it is in no file
	Code    Code     `json:"code"`           // what, for programs
	Message string   `json:"message"`        // what, for people
	Hint    string   `json:"hint,omitempty"` // what was probably meant
	Path    string   `json:"path,omitempty"` // the key it is about: pipeline.search.stage.index.dir
	// SourceLine is the line of the file that Pos is in.
	SourceLine string `json:"source_line,omitempty"`

	width int // characters that the finding is about
	order int // of the file among those read
}

// Code says what kind of finding it is. Codes do not change between versions.
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
	CodeStage           Code = "stage"            // a stage type that describes itself wrongly
	CodeSet             Code = "set"              // a --set that cannot be understood
	CodeTest            Code = "test"             // a test that says too little, or what makes no sense
	CodeEnvironment     Code = "environment"      // something a stage needs is not there; found by [Graph.Probe], not by reading
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
	if f.Hint == "" {
		return f.Message
	}
	return fmt.Sprintf("%s (did you mean %s?)", f.Message, f.Hint)
}

// Findings is everything that is wrong with a configuration, in the order of the files and lines.
type Findings []Finding

// Error returns one line for each finding.
func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the findings as errors.
func (fs Findings) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// Format writes the findings for a person: each in one line, then the line of the file, and a caret under
// the place. Nothing is coloured unless color is set.
func (fs Findings) Format(w io.Writer, color bool) error {
	bold, red, reset, shown := "", "", "", func(s string) string { return s }
	if color {
		bold, red, reset, shown = "\x1b[1m", "\x1b[31m", "\x1b[0m", terminal.Visible
	}
	var b strings.Builder
	for _, f := range fs {
		if at := f.Pos.String(); at != "" {
			fmt.Fprintf(&b, "%s%s:%s ", bold, shown(at), reset)
		}
		fmt.Fprintf(&b, "%s%s%s\n", red, shown(f.text()), reset)
		if f.Pos.Line == 0 || f.SourceLine == "" {
			continue
		}
		number := fmt.Sprintf("%5d | ", f.Pos.Line)
		fmt.Fprintf(&b, "%s%s\n", number, shown(f.SourceLine))
		fmt.Fprintf(&b, "%s| %s%s%s%s\n", strings.Repeat(" ", len(number)-2), indentTo(f.SourceLine, f.Pos.Column), red, strings.Repeat("^", max(1, f.width)), reset)
	}
	_, err := io.WriteString(w, b.String())
	return err
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

// sorted orders the findings by place; those in no file come last, and one that was found twice once.
func (fs Findings) sorted() Findings {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		nowhere := func(f Finding) int {
			if f.Pos.Line == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(
			cmp.Compare(nowhere(a), nowhere(b)), cmp.Compare(a.order, b.order),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(fs)
}

// orNil returns the findings as an error that is nil if there are none.
func (fs Findings) orNil() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}
