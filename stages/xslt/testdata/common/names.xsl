<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template name="berth">Berth <xsl:value-of select="format-number(@number, '00')"/></xsl:template>
</xsl:stylesheet>
