package sparql

// variablesOf returns the variables of an expression; with those of the patterns of EXISTS, if they are asked for.
func variablesOf(e expression, exists bool) varSet {
	s := varSet{}
	collectVariables(&s, e, exists)
	return s
}

func collectVariables(s *varSet, e expression, exists bool) {
	switch e := e.(type) {
	case *variableExpr:
		s.add(e.variable)
	case *existsExpr:
		if exists {
			collectGroup(s, e.group)
		}
	}
	for _, argument := range argumentsOf(e) {
		collectVariables(s, argument, exists)
	}
}

// argumentsOf returns the expressions that an expression is made of.
func argumentsOf(e expression) []expression {
	switch e := e.(type) {
	case *operatorExpr:
		return e.arguments
	case *callExpr:
		return e.arguments
	case *chainExpr:
		return append([]expression{e.first}, e.rest...)
	default:
		return nil
	}
}

// collectGroup adds all variables that a group mentions and that can come from outside.
func collectGroup(s *varSet, g *group) {
	s.addAll(g.scope)
	for _, e := range g.elements {
		switch e := e.(type) {
		case *filterElement:
			collectVariables(s, e.expression, true)
		case *optionalElement:
			collectGroup(s, e.group)
		case *minusElement:
			collectGroup(s, e.group)
		case *unionElement:
			for _, part := range e.groups {
				collectGroup(s, part)
			}
		case *graphElement:
			collectGroup(s, e.group)
		case *bindElement:
			collectVariables(s, e.expression, true)
		}
	}
}

// renameVariables puts other variables into an expression, in its place.
func renameVariables(e expression, rename func(variable) variable) {
	if v, ok := e.(*variableExpr); ok {
		v.variable = rename(v.variable)
	}
	for _, argument := range argumentsOf(e) {
		renameVariables(argument, rename)
	}
}
