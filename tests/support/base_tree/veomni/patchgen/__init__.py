class PatchConfig:
    def __init__(self, source_module):
        self.source_module = source_module
        self.blocks = []

    def add_post_import_block(self, code):
        self.blocks.append(code)
