<?xml version="1.0"?>
<!-- What a page says in Open Graph, Microdata and RDFa: a property, a tab and its text on a line. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text" encoding="utf-8"/>
  <xsl:template match="/">
    <xsl:for-each select="//*[@itemprop and not(@itemscope)] | //*[@property and not(@typeof)]">
      <xsl:variable name="name" select="concat(@itemprop, @property)"/>
      <xsl:choose>
        <xsl:when test="contains($name, ':')"><xsl:value-of select="substring-after($name, ':')"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="$name"/></xsl:otherwise>
      </xsl:choose>
      <xsl:text>&#9;</xsl:text>
      <xsl:choose>
        <xsl:when test="@content"><xsl:value-of select="normalize-space(@content)"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
      </xsl:choose>
      <xsl:text>&#10;</xsl:text>
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
