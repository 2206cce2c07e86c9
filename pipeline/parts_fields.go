package pipeline

import "slices"

// PartsOfFields returns the parts of which fields of these names tell, in whatever kind has such a field; a value's
// body is the part of that name. It says as well whether one of them tells in which case a value is: what looks at
// that decides by itself what to do in each.
func PartsOfFields(names ...string) (parts []Part, byCase bool) {
	parts = NoParts
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	for _, k := range codecs.byName {
		for _, name := range names {
			if name == bodyField && k.bodyDoc != "" && k.kind.typ.Implements(partial) {
				parts = append(parts, bodyField)
			}
			f, ok := k.field(name)
			if ok && f.part != "" {
				parts = append(parts, f.part)
			}
			byCase = byCase || ok && f.ofCase
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts), byCase
}

// KnownParts lists the parts that fields of some kind tell of, sorted.
func KnownParts() []Part {
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	var all []Part
	for _, k := range codecs.byName {
		for _, f := range k.fields {
			if f.part != "" {
				all = append(all, f.part)
			}
		}
		if k.bodyDoc != "" && k.kind.typ.Implements(partial) {
			all = append(all, bodyField)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
