package portal

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/cron"
)

// What people may choose of an interest, as forms and requests name it.
var (
	matchModes   = []string{xmlschema.MatchAny, xmlschema.MatchAll, xmlschema.MatchNone}
	processTypes = []string{xmlschema.ProcessFilter, xmlschema.ProcessNonFilter}
	changeScopes = []string{xmlschema.ChangeAdded, xmlschema.ChangePage, xmlschema.ChangeFirst}
	crawlScopes  = []string{xmlschema.ScopeHost, xmlschema.ScopeDomain, xmlschema.ScopePrefix, xmlschema.ScopeAny}
	urgencies    = []string{"1", "2", "3"}
)

// interestFields are the fields of the form, in its order.
var interestFields = []string{"title", "url", "below", "labels", "keywords", "match", "threshold", "tell", "change", "urgency",
	"select", "ignore", "depth", "scope", "every", "at", "remember", "secret"}

// interestValues returns what the form of an interest shows. What it does not show, keptOf names.
func interestValues(u *xmlschema.URD) url.Values {
	v := make(url.Values)
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("title", u.Title)
	address, below := u.Prefix()
	if below {
		v.Set("below", "1")
	}
	set("url", address)
	set("labels", strings.Join(slices.Sorted(slices.Values(u.Labels)), " "))
	set("keywords", joined(u.Keywords.Keywords, showKeyword))
	v.Set("match", cmp.Or(u.Keywords.Match, xmlschema.MatchAny))
	v.Set("threshold", strconv.Itoa(xmlschema.DefaultThreshold))
	if hasKeywords(u.Keywords) {
		v.Set("threshold", strconv.Itoa(u.Keywords.Threshold))
	}
	v.Set("tell", cmp.Or(u.ProcessType, xmlschema.ProcessFilter))
	v.Set("change", cmp.Or(u.Change, xmlschema.ChangeAdded))
	v.Set("urgency", strconv.Itoa(cmp.Or(u.Urgency, xmlschema.DefaultUrgency)))
	set("select", joined(u.Select, ruleLine))
	set("ignore", joined(u.Ignore, ruleLine))
	v.Set("depth", strconv.Itoa(u.Depth))
	v.Set("scope", cmp.Or(u.Scope, xmlschema.ScopeHost))
	set("every", showInterval(u.Timing))
	set("at", u.At)
	if u.Remember > 0 {
		v.Set("remember", strconv.Itoa(u.Remember))
	}
	set("secret", u.Secret)
	return v
}

func hasKeywords(k xmlschema.Keywords) bool { return len(k.Keywords)+len(k.Groups) > 0 }

func joined[T any](values []T, line func(T) string) string {
	lines := make([]string, len(values))
	for i, v := range values {
		lines[i] = line(v)
	}
	return strings.Join(lines, "\n")
}

// showInterval writes a duration without its zeros; none is empty.
func showInterval(d time.Duration) string {
	if d == 0 {
		return ""
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// interestReader reads the form of an interest.
type interestReader struct {
	*form
	was   *xmlschema.URD // what the form was made of
	shown url.Values     // by it
	to    *xmlschema.URD // what becomes of it
	allow Options
}

// readInterest returns what a form makes of an interest: what the form shows is as typed, all else as it was. The
// form records what is wrong; if nothing is, Validate accepts the result.
func readInterest(f *form, was *xmlschema.URD, allow Options) *xmlschema.URD {
	is := *was
	r := interestReader{form: f, was: was, shown: interestValues(was), to: &is, allow: allow}
	r.source()
	r.marks()
	r.words()
	r.parts()
	r.times()
	if f.ok() {
		r.validate()
	}
	return &is
}

// same reports whether a field came back as it was shown.
func (r *interestReader) same(name string) bool { return r.Value(name) == r.shown.Get(name) }

// source reads where an interest begins, and how far it goes from there.
func (r *interestReader) source() {
	if !r.same("url") || r.Is("below", "1") != (r.shown.Get("below") != "") {
		address := r.line("url")
		_, starred := strings.CutSuffix(address, "*")
		if r.Is("below", "1") && !starred {
			address += "*"
		}
		r.to.URI = address
		r.checkURL(strings.TrimSuffix(address, "*"), strings.HasSuffix(address, "*"))
	}
	r.to.Scope = r.oneOf("scope", crawlScopes)
	depth, err := strconv.Atoi(r.line("depth"))
	kept := depth == r.was.Depth && r.to.URI == r.was.URI && r.to.Scope == r.was.Scope
	if err != nil || !kept && (depth < 1 || depth > r.allow.MaxDepth) {
		r.wrong("depth", "interest.wrong_depth", r.allow.MaxDepth)
	}
	r.to.Depth = depth
	r.to.Secret = r.line("secret")
}

// checkURL records what is wrong with a URL that was typed.
func (r *interestReader) checkURL(address string, below bool) {
	u, err := url.Parse(address)
	switch {
	case address == "":
		r.wrong("url", "interest.no_url")
	case err == nil && u.Scheme == "" && strings.Contains(address, "."):
		r.wrong("url", "interest.no_scheme", strings.TrimLeft(address, "/"))
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.wrong("url", "interest.wrong_url")
	case u.User != nil:
		r.wrong("url", "interest.url_password")
	case below && !r.allow.Prefixes:
		r.wrong("url", "interest.no_prefix")
	case below && !strings.HasPrefix(u.Path, "/"):
		r.wrong("url", "interest.wide_prefix", address)
	}
}

// oneOf returns the one of several values that was chosen.
func (r *interestReader) oneOf(name string, values []string) string {
	if !slices.Contains(values, r.Value(name)) {
		r.wrong(name, "interest.wrong_choice")
	}
	return r.Value(name)
}

// marks reads what is for the owner of an interest.
func (r *interestReader) marks() {
	if !r.same("title") {
		r.to.Title = r.line("title")
	}
	if len([]rune(r.to.Title)) > xmlschema.LongestTitle {
		r.wrong("title", "interest.long_title", xmlschema.LongestTitle)
	}
	r.to.Labels = strings.Fields(r.Value("labels"))
	slices.Sort(r.to.Labels)
	r.to.Labels = slices.Compact(r.to.Labels)
	for _, label := range r.to.Labels {
		if !xmlschema.FitsLabel(label) {
			r.wrong("labels", "interest.wrong_label", label, xmlschema.LongestLabel)
		}
	}
	if len(r.to.Labels) > xmlschema.MostLabels {
		r.wrong("labels", "interest.many_labels", xmlschema.MostLabels)
	}
	r.to.Urgency, _ = strconv.Atoi(r.oneOf("urgency", urgencies))
}

// words reads what an interest looks for.
func (r *interestReader) words() {
	k := &r.to.Keywords
	k.Keywords = readLines(linesOf(r.Value("keywords")), r.was.Keywords.Keywords, showKeyword, func(line string) (xmlschema.Keyword, bool) {
		keyword, wrong := readKeyword(line)
		if wrong != "" {
			r.wrongText("keywords", wrong)
		}
		return keyword, wrong == ""
	})
	k.Match = r.oneOf("match", matchModes)
	threshold, err := strconv.Atoi(r.line("threshold"))
	if err != nil || threshold < 0 || threshold > 100 {
		r.wrong("threshold", "interest.wrong_threshold")
	}
	k.Threshold = threshold
	if !hasKeywords(*k) {
		*k = xmlschema.Keywords{}
	}
	r.to.ProcessType, r.to.Change = r.oneOf("tell", processTypes), r.oneOf("change", changeScopes)
	r.to.Remember = 0
	if remember := r.line("remember"); remember != "" {
		if r.to.Remember, err = strconv.Atoi(remember); err != nil || r.to.Remember < 1 || r.to.Remember > xmlschema.MostRemembered {
			r.wrong("remember", "interest.wrong_choice")
		}
	}
}

// parts reads what of a page is looked at.
func (r *interestReader) parts() {
	r.to.Select = r.rules("select", r.was.Select)
	r.to.Ignore = r.rules("ignore", r.was.Ignore)
	condition := r.was.When()
	if condition == nil || r.to.When() != nil || r.Wrong["select"] != "" {
		return
	}
	// The form does not show the condition: it stays at the rule that stands in the place of its own.
	if len(r.to.Select) != len(r.was.Select) {
		r.wrong("select", "interest.lost_condition", condition.When, ruleLine(*condition))
		return
	}
	r.to.Select[slices.IndexFunc(r.was.Select, func(r xmlschema.Rule) bool { return r.When != "" })].When = condition.When
}

func (r *interestReader) rules(name string, before []xmlschema.Rule) []xmlschema.Rule {
	return readLines(linesOf(r.Value(name)), before, ruleLine, func(line string) (xmlschema.Rule, bool) {
		rule, wrong := readRule(line, name == "ignore")
		if wrong != "" {
			r.wrongText(name, wrong)
		}
		return rule, wrong == ""
	})
}

// times reads when the source is asked.
func (r *interestReader) times() {
	if !r.same("every") {
		var err error
		if r.to.Timing, err = readInterval(r.line("every")); err != nil {
			r.wrong("every", "interest.wrong_interval")
		}
	}
	if !r.same("at") {
		r.to.At = cron.Normal(r.Value("at"))
		if _, err := cron.Parse(r.to.At); r.to.At != "" && err != nil {
			r.wrong("at", "interest.wrong_times", err)
		}
	}
	if r.to.At != "" && r.to.Timing > 0 {
		r.wrong("at", "interest.both_times")
	}
}

var errInterval = errors.New("not an interval")

// days are the beginning of an interval.
var days = regexp.MustCompile(`^([0-9]{1,4})d`)

// readInterval reads a duration, with days; nothing is none.
func readInterval(s string) (time.Duration, error) {
	s = strings.ToLower(strings.Join(strings.Fields(s), ""))
	if s == "" {
		return 0, nil
	}
	var whole time.Duration
	if m := days.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		whole, s = time.Duration(n)*24*time.Hour, s[len(m[0]):]
		if s == "" {
			s = "0s"
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || whole+d <= 0 || d < 0 {
		return 0, errInterval
	}
	return whole + d, nil
}

// validate records what else keeps the interest from being stored.
func (r *interestReader) validate() {
	if err := r.to.Validate(); err != nil {
		r.refused(err)
		return
	}
	if _, _, err := control.CrawlOf(r.to); err != nil {
		r.wrong("url", "interest.wrong_start", err)
	}
}

// problemFields are the fields that are about parts of a request; the first that fits counts.
var problemFields = []struct{ path, field string }{
	{"/@title", "title"}, {"/@labels", "labels"}, {"/@remember", "remember"}, {"/uri/@timing", "every"}, {"/uri/@at", "at"}, {"/uri/@secret", "secret"},
	{"/uri", "url"}, {"/keywords/@threshold", "threshold"}, {"/keywords/@match", "match"}, {"/keywords", "keywords"}, {"/selection/ignore", "ignore"},
	{"/selection", "select"}, {"/depth/@scope", "scope"}, {"/depth", "depth"}, {"/urgency", "urgency"}, {"/type/@change", "change"}, {"/type/@processtype", "tell"},
}

// wholeForm is the field of what is wrong with no field alone.
const wholeForm = "form"

// refused records why an interest cannot be stored, and reports whether that is for its owner to mend.
func (f *form) refused(err error) bool {
	var problems xmlschema.Problems
	var forbidden *control.ForbiddenSecretError
	var beyond *control.BudgetError
	switch {
	case errors.As(err, &problems):
		for _, p := range problems {
			f.wrong(fieldOf(p.Path), "interest.refused", p.Message)
		}
	case errors.As(err, &forbidden):
		f.wrong("secret", "interest.wrong_secret", strings.Join(forbidden.Names, ", "))
	case errors.As(err, &beyond) && beyond.What == "keywords":
		f.wrong("keywords", "interest.many_keywords", beyond.May, beyond.Would)
	case errors.As(err, &beyond):
		f.wrong(wholeForm, "interest.many", beyond.May)
	default:
		return false
	}
	return true
}

// fieldOf returns the field that is about a part of a request.
func fieldOf(path string) string {
	path = strings.TrimPrefix(path, "/urd")
	for _, p := range problemFields {
		if strings.HasPrefix(path, p.path) {
			return p.field
		}
	}
	return wholeForm
}
