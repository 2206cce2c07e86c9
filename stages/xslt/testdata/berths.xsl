<?xml version="1.0" encoding="UTF-8"?>
<!-- Berths of a harbour as RDF/XML. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:h="http://harbour.example/ns#"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:schema="http://schema.org/" exclude-result-prefixes="h">
  <xsl:import href="common/names.xsl"/>
  <xsl:output method="xml" indent="yes" encoding="UTF-8"/>
  <xsl:key name="ship" match="h:ship" use="@id"/>
  <xsl:template match="/h:berths">
    <rdf:RDF>
      <xsl:apply-templates select="h:berth"><xsl:sort select="@number" data-type="number"/></xsl:apply-templates>
    </rdf:RDF>
  </xsl:template>
  <xsl:template match="h:berth">
    <schema:BoatTerminal rdf:about="#berth{@number}">
      <schema:name><xsl:call-template name="berth"/></schema:name>
      <schema:depth><xsl:value-of select="h:depth"/></schema:depth>
      <xsl:for-each select="key('ship', @ship)"><schema:containsPlace><xsl:value-of select="."/></schema:containsPlace></xsl:for-each>
    </schema:BoatTerminal>
  </xsl:template>
</xsl:stylesheet>
