package article

// trait is what is known of an element by its name.
type trait uint16

const (
	inline  trait = 1 << iota // it is part of the running text
	hidden                    // its content is no text of the page
	control                   // for use, not for reading: a form's field, navigation
	heading
	link
	listing // a list or a table: many short blocks belong together
)

var traits = map[string]trait{}

func init() {
	for names, is := range map[string]trait{
		"abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q s samp small span strike " +
			"strong sub sup time tt u var wbr picture nobr ruby rb rt rp": inline,
		"a": inline | link,
		"script style noscript template iframe svg math object embed audio video canvas head title meta link base map": hidden,
		"nav footer aside button select textarea input menu dialog":                                                    control,
		"h1 h2 h3 h4 h5 h6":  heading,
		"ul ol dl table pre": listing,
	} {
		for start, i := 0, 0; i <= len(names); i++ {
			if i == len(names) || names[i] == ' ' {
				traits[names[start:i]] |= is
				start = i + 1
			}
		}
	}
}
