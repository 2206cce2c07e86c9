package portal

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed locale/en.toml
var english []byte

// texts are those that people are shown, by their keys: all that templates and handlers say is in one file.
var texts = sync.OnceValue(func() map[string]string {
	var tables map[string]any
	if err := toml.Unmarshal(english, &tables); err != nil {
		panic(err) // a test reads it first
	}
	all := make(map[string]string)
	flatten(all, "", tables)
	return all
})

func flatten(into map[string]string, prefix string, table map[string]any) {
	for name, value := range table {
		switch v := value.(type) {
		case string:
			into[prefix+name] = v
		case map[string]any:
			flatten(into, prefix+name+".", v)
		}
	}
}

// missed is told of keys that there is no text for.
var missed = func(string) {}

// text returns the text of a key, with what it speaks of put in (see [fmt.Sprintf]). A key that there is not shows as
// it is: a test finds it.
func text(key string, args ...any) string {
	t, is := texts()[key]
	switch {
	case !is:
		missed(key)
		return key
	case len(args) == 0:
		return t
	}
	return fmt.Sprintf(t, args...)
}

// counted returns the text of a key for so many: that of KEY.one for one, else of KEY.many.
func counted(key string, n int) string {
	if n == 1 {
		return text(key+".one", n)
	}
	return text(key+".many", n)
}
