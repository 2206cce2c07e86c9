package article

import "strings"

// trait is what is known of an element by its name.
type trait uint16

const (
	inline  trait = 1 << iota // it is part of the running text
	skipped                   // its content is no text of the page
	control                   // for use, not for reading: a form's field, navigation
	heading
	paragraph
	link
	tabular    // a part of a table
	smallPrint // what may be a date or an author, in a header
	item       // one of a list
	anchored   // its id is where links to its text lead
	document   // html, body
	hidden     // by its attributes
)

var traits = func() map[string]trait {
	all := make(map[string]trait)
	for names, is := range map[string]trait{
		"abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q s samp small span strike " +
			"strong sub sup time tt u var wbr picture nobr ruby rb rt rp": inline,
		"a": inline | link,
		"script style noscript iframe svg math object embed audio video canvas head title meta link base map " +
			"template": skipped,
		"nav footer aside button select textarea input menu dialog": control,
		"h1 h2 h3 h4 h5 h6":                   heading | anchored,
		"p":                                   paragraph | smallPrint | anchored,
		"div ul":                              smallPrint,
		"tr td th tbody thead tfoot colgroup": tabular,
		"li dt dd":                            item | anchored,
		"section pre":                         anchored,
		"html body":                           document,
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = is
		}
	}
	return all
}()
